import { mkdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Level } from 'level';
import { startDatabaseServer } from './database-server.ts';

/** What the relay tells the process first. */
export interface DatabaseOrder {
  accessKeyId: string;
  path: string;
}

/** What the process answers, once it can be used or cannot. */
export type DatabaseAnswer = { endpoint: string } | { failure: string };

/** How long the process of a relay that was killed may take to let go of the files. */
const LOCKED_FOR_MS = 10_000;
const CLOSED_WITHIN_MS = 5_000;

// The terminal sends these to every process of the relay, which needs its table until it has stopped.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

let close = async () => {};
// However the relay ends, the channel to it is closed then.
process.once('disconnect', () => {
  setTimeout(() => process.exit(1), CLOSED_WITHIN_MS).unref();
  close().finally(() => process.exit());
});

process.once('message', async ({ accessKeyId, path }: DatabaseOrder) => {
  const tell = (answer: DatabaseAnswer) => process.send?.(answer);
  try {
    await waitForFiles(path);
    const server = await startDatabaseServer(accessKeyId, path);
    close = server.close;
    tell({ endpoint: server.endpoint });
  } catch (error) {
    tell({ failure: `${path} cannot be opened: ${causeOf(error)}` });
  }
});

/** Opens the files once for itself: dynalite does not say why it cannot. */
async function waitForFiles(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  for (const giveUpAt = Date.now() + LOCKED_FOR_MS; ; await sleep(50)) {
    const files = new Level(path);
    try {
      await files.open();
      return await files.close();
    } catch (error) {
      if (!isLocked(error) || Date.now() > giveUpAt) throw error;
    }
  }
}

function isLocked(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === 'LEVEL_LOCKED';
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}
