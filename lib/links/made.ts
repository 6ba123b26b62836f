import * as z from 'zod/mini';
import type { Key } from '../state/table/keys.ts';
import type { Table } from '../state/table/table.ts';
import { readItem, storedTime, unchangedSince } from '../state/table/unreadable-item.ts';
import { count } from './link-shape.ts';

const string = z.string();

/** Built on first use, because few cold starts need it. */
const madeShape = z.lazy(() =>
  z.object({
    /** How often the key was released. Each release gives the next object another marker. */
    turn: count,
    /**
     * The call that creates the object: `defects/create`, `Slack message`. Missing, like `by`, while there is neither
     * an object nor a claim.
     */
    calls: z.exactOptional(string),
    /** The job and step that claimed or created the object. */
    by: z.exactOptional(z.object({ job: string, step: string })),
    /** The object's id, once it exists. */
    id: z.exactOptional(z.union([string, z.number()])),
    /** The channel of a message in Slack. */
    channel: z.exactOptional(string),
    /** Since when the message may exist, and when the job with its newest text was accepted. Epoch milliseconds. */
    since: z.exactOptional(storedTime),
    newest: z.exactOptional(storedTime),
    /**
     * Counts the writes, so that each write is conditional on the state that was read. Missing before the first write.
     */
    writes: z.exactOptional(count),
  }),
);

/**
 * The item of a name and a key, which all jobs share. It holds at most one object, or the claim of the job that creates
 * it.
 */
export type Made = z.output<typeof madeShape>;
export type Claimed = Made & Required<Pick<Made, 'calls' | 'by'>>;

/** True while a job holds the claim and no object exists. */
export const isClaimed = (made: Made): made is Claimed => made.by !== undefined && made.id === undefined;

/** Removes the claim or the object. */
export function freed({ calls, by, id, ...rest }: Made): Made {
  return rest;
}

/** The objects that jobs share. Their items never expire. */
export function createMade(table: Table) {
  return {
    /** @throws {UnreadableItem} */
    async read(key: Key): Promise<Made> {
      const item = await table.getEvenExpired(key);
      const todo = 'Nothing is made for its key. Correct the item in the table, and replay the job';
      return item ? readItem<Made>(madeShape, item, `the item ${key.pk}`, todo) : { turn: 0 };
    },
    /** @returns the written item; undefined if there was a write since `seen` was read */
    async change(key: Key, seen: Made, next: Made): Promise<Made | undefined> {
      const made = { ...next, writes: (seen.writes ?? 0) + 1 };
      return (await table.put({ ...key, ...made }, unchangedSince('writes', seen.writes))) ? made : undefined;
    },
  };
}
