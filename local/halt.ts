import { statSync } from 'node:fs';
import { join } from 'node:path';

/** The message for people when the disk is full. */
export const DISK_FULL =
  'the disk is full. Everything that was accepted is kept: free some space, stop the relay, and start it again';

const LOOK_EVERY_MS = 1_000;

/** Whether Node or the database reports a full disk. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? error.code : undefined;
  return (
    code === 'ENOSPC' || code === 'EDQUOT' || /no space left on device/i.test(error.message) || isDiskFull(error.cause)
  );
}

/**
 * Ends the work of a relay that cannot store anything. Its process stays, to say why and to answer 503, so that GitHub
 * and people in Slack know that it accepted nothing.
 *
 * @param folder of the state. If someone deletes it, the relay would go on to write files that cannot be found again
 * @param halted is called once, with the reason
 */
export function createHalt(folder: string, halted: (why: string) => void) {
  // LevelDB writes this file only when it opens, and would go on with deleted files.
  const database = join(folder, 'dynamodb', 'CURRENT');
  const opened = inodeOf(database);
  let reason: string | undefined;

  /** Keeps only the first reason. */
  function because(why: string): void {
    if (reason !== undefined) return;
    reason = why;
    clearInterval(looking);
    halted(why);
  }
  /** Why the relay accepts nothing; undefined while it works. */
  function why(): string | undefined {
    if (reason === undefined && inodeOf(database) !== opened) {
      because(`the state in ${folder} was deleted while the relay ran: stop the relay, and start it again`);
    }
    return reason;
  }
  const looking = setInterval(why, LOOK_EVERY_MS).unref();
  return { why, because };
}

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}
