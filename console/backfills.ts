import type { BackfillNow } from './contract.ts';
import type { ConsoleRelay } from './relay.ts';

/** The backfills of repositories that have not finished long ago. The relay has none yet. */
export async function readBackfills(_relay: ConsoleRelay): Promise<BackfillNow[]> {
  return [];
}
