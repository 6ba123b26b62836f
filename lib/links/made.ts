import * as z from 'zod/mini';
import type { Key } from '../state/table/keys.ts';
import type { Table } from '../state/table/table.ts';
import { readItem, storedTime, unchangedSince } from '../state/table/unreadable-item.ts';
import { count } from './link-shape.ts';

const string = z.string();

/** Built for the first that is read, because few cold starts need it. */
const madeShape = z.lazy(() =>
  z.object({
    /** How often it was released: the next object has another marker. */
    turn: count,
    /** What makes it: `defects/create`, `Slack message`. Missing while there is neither a thing nor a claim, as `by`. */
    calls: z.exactOptional(string),
    /** The job that has claimed it or made it, and the step. */
    by: z.exactOptional(z.object({ job: string, step: string })),
    /** Its id, once it is made. */
    id: z.exactOptional(z.union([string, z.number()])),
    /** The channel of a message in Slack. */
    channel: z.exactOptional(string),
    /** Since when the message may be there, and when the newest job that wrote its text was accepted. Epoch milliseconds. */
    since: z.exactOptional(storedTime),
    newest: z.exactOptional(storedTime),
    /** Counts the writes, so that each is conditional on what was read. Missing before the first. */
    writes: z.exactOptional(count),
  }),
);

/** The item of a name and a key, which all jobs share: at most one thing at a time, or the claim of the job that makes it. */
export type Made = z.output<typeof madeShape>;
export type Claimed = Made & Required<Pick<Made, 'calls' | 'by'>>;

/** True while a job has claimed it, and nothing is made. */
export const isClaimed = (made: Made): made is Claimed => made.by !== undefined && made.id === undefined;

/** Without the claim, or the thing. */
export function freed({ calls, by, id, ...rest }: Made): Made {
  return rest;
}

/** The things that jobs share. They never expire. */
export function createMade(table: Table) {
  return {
    /** @throws {UnreadableItem} */
    async read(key: Key): Promise<Made> {
      const item = await table.getEvenExpired(key);
      const todo = 'Nothing is made for its key. Correct the item in the table, and replay the job';
      return item ? readItem<Made>(madeShape, item, `the item ${key.pk}`, todo) : { turn: 0 };
    },
    /** @returns what is written; undefined if something was written since `seen` was read */
    async change(key: Key, seen: Made, next: Made): Promise<Made | undefined> {
      const made = { ...next, writes: (seen.writes ?? 0) + 1 };
      return (await table.put({ ...key, ...made }, unchangedSince('writes', seen.writes))) ? made : undefined;
    },
  };
}
