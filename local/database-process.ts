import { mkdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Level } from 'level';
import { messageOf } from '../lib/text.ts';
import { startDatabaseServer } from './database-server.ts';
import { DISK_FULL, isDiskFull } from './halt.ts';
import { writeInTurn } from './write-in-turn.ts';

/** The first message, from the relay to the process. */
export interface DatabaseOrder {
  accessKeyId: string;
  path: string;
}

/** The process's answer: its database is ready, or could not be opened. */
export type DatabaseAnswer = { endpoint: string } | { failure: string };

/** The process's last message: it could not write a file. */
export interface DatabaseFailure {
  broken: string;
}

/** How long the process of a killed relay may take to release the files. */
const LOCKED_FOR_MS = 10_000;
const CLOSED_WITHIN_MS = 5_000;

// The terminal sends these signals to every process of the relay, and the relay needs its table until it has stopped.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

let close = async () => {};
// However the relay ends, its channel closes.
process.once('disconnect', () => {
  setTimeout(() => process.exit(1), CLOSED_WITHIN_MS).unref();
  void close().finally(() => process.exit());
});

// LevelDB may have written half a record. It drops that when the files are opened again, and nothing was written after
// it.
process.on('uncaughtException', (error) => {
  void close();
  const broken = isDiskFull(error) ? DISK_FULL : `the database failed: ${causeOf(error)}; start the relay again`;
  process.send?.({ broken } satisfies DatabaseFailure, () => process.exit(1));
});

process.once('message', async ({ accessKeyId, path }: DatabaseOrder) => {
  const tell = (answer: DatabaseAnswer) => process.send?.(answer);
  try {
    await waitForFiles(path);
    writeInTurn();
    const server = await startDatabaseServer(accessKeyId, path);
    close = server.close;
    tell({ endpoint: server.endpoint });
  } catch (error) {
    tell({
      failure: `${path} cannot be opened: ${causeOf(error)}; ${todo(error, path)}`,
    });
  }
});

/** Opens the files once without dynalite, which does not report why opening fails. */
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

function todo(error: unknown, path: string): string {
  if (isLocked(error)) return 'stop the other relay of this folder first';
  if (isDiskFull(error)) return 'free some space, and start again: everything that was accepted is kept';
  return `if its files are damaged, restore them, or remove ${path}: then jobs and links are lost`;
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return messageOf(cause);
}
