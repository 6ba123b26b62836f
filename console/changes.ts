import type { ServerResponse } from 'node:http';
import type { LiveChange } from './requests.ts';

/** The changes of a relay after which the pages read again. */
export interface Changes {
  /** Calls the listener for each change from now on. @returns stops the calls */
  listen(listener: (jobIds: readonly string[]) => void): () => void;
}

/** Collects changes into one line for this time, so that the pages read a hundred steps only once. */
const GATHERED_MS = 150;
/** A line at this interval shows the page that the connection works. */
const ALIVE_EVERY_MS = 15_000;
/** If more than this waits for a page that does not read, its stream is closed. */
const MOST_UNREAD_BYTES = 64 * 1024;

/** Answers with a stream of JSON lines until the page closes it. */
export function streamChanges(response: ServerResponse, changes: Changes): void {
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const write = (lines: readonly LiveChange[]) => {
    response.write(`${lines.map((line) => JSON.stringify(line)).join('\n')}\n`);
    if (response.writableLength > MOST_UNREAD_BYTES) response.destroy();
  };
  const stop = changes.listen((jobIds) => {
    for (const id of jobIds) changed.add(id);
    timer ??= setTimeout(() => {
      timer = undefined;
      const jobs = [...changed];
      changed.clear();
      write([...(jobs.length > 0 ? [{ jobs }] : []), { now: true }]);
    }, GATHERED_MS);
  });
  const alive = setInterval(() => write([]), ALIVE_EVERY_MS);
  // The headers are sent with the first byte.
  write([]);
  response.once('close', () => {
    clearTimeout(timer);
    clearInterval(alive);
    stop();
  });
}
