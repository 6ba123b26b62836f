import type { ServerResponse } from 'node:http';
import type { LiveChange } from './requests.ts';

/** What happens in a relay, as far as the pages have to read again. */
export interface Changes {
  /** Calls the listener for each change from now on. @returns stops it */
  listen(listener: (jobIds: readonly string[]) => void): () => void;
}

/** Changes within this time are one line, so that a hundred steps at once make the pages read only once. */
const GATHERED_MS = 150;
/** A page notices by this that the connection is dead. */
const ALIVE_EVERY_MS = 15_000;
/** The stream of a page that does not read is closed when this much waits for it. */
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
  // The headers reach the page with the first byte.
  write([]);
  response.once('close', () => {
    clearTimeout(timer);
    clearInterval(alive);
    stop();
  });
}
