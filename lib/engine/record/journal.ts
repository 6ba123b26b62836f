import * as z from 'zod/mini';
import { operations } from '../../service/partner/operations/operations.ts';
import { type KeptRequest, packBody, unpackBody } from '../../service/partner/signed-request.ts';
import { expiry } from '../../state/table/expiry.ts';
import { keys } from '../../state/table/keys.ts';
import type { Expression, Item, Table } from '../../state/table/table.ts';
import { readItem, storedTime, unchangedSince } from '../../state/table/unreadable-item.ts';
import { newestShape } from './history.ts';
import { type Lease, LeaseLost } from './job-store.ts';
import type { Send } from './sends.ts';

const string = z.string();
const count = z.int().check(z.gte(0));
const maybe = z.exactOptional(string);
const maybeTime = z.exactOptional(storedTime);
const bytes: z.ZodMiniType<Uint8Array> = z.instanceof(Uint8Array);

/** The record of a step. Times are epoch milliseconds. */
export type StepEntry = z.output<typeof entryShape>;

const entryShape = z.object({
  step: string,
  /** The target of the call, such as `defects/create` or `GitHub comment`. */
  calls: string,
  status: z.enum(['begun', 'done', 'skipped', 'failed']),
  /** When the step first began. */
  startedAt: storedTime,
  /** When the step's last run began, if that was not the first. */
  resumedAt: maybeTime,
  finishedAt: maybeTime,
  /** The newest sends of the step's request, including failed attempts. Missing if there were none. */
  sends: z.exactOptional(newestShape<Send>()),
  /** How the relay settled the outcome of a creation whose answer was lost. */
  settledBy: maybe,
  /** The part of the answer that the automation keeps. */
  result: z.exactOptional(z.unknown()),
  /** The result, sealed, if only the person who asked may read it: see privacy.ts. */
  sealed: z.exactOptional(bytes),
  /** Why the step was skipped, or its last error. */
  note: maybe,
  failures: z.exactOptional(count),
  /**
   * Set for a tool call that changes something and whose outcome is unknown: the grant of the call, and whether the
   * tool declares that repeating the call does no harm.
   */
  sent: z.exactOptional(z.object({ grantId: string, isRepeatable: z.boolean() })),
});

/** A digest of each field of a payload. */
export type SentFields = z.output<typeof sentShape>;
const sentShape = z.readonly(z.record(string, string));

const createdShape = z.object({ result: z.object({ id: z.union([string, z.number()]), sent: sentShape }) });

/** An open request as stored in the table. */
type RequestItem = z.output<typeof requestShape>;

const requestShape = z.object({
  request: z.object({
    url: string,
    timestampSeconds: count,
    nonce: string,
    body: z.union([string, bytes]),
    signedAt: storedTime,
    proof: string,
  }),
  /** The creating operation. */
  operation: string,
  sent: sentShape,
  /**
   * When the relay stops sending the request and starts to search. This is not before the last send has ended. Epoch
   * milliseconds.
   */
  lookFrom: maybeTime,
  /**
   * How to find the created object: the marker text in it, and the payload fields that narrow the search. This stays
   * with the signed bytes, even if the automation would now sign something else.
   */
  found: z.exactOptional(z.object({ marker: string, scope: z.readonly(z.record(string, z.unknown())) })),
  /**
   * The identity that jobs share, so that only one creates the object: the digest of its key, and how often the key was
   * released before.
   */
  thing: z.exactOptional(z.object({ key: string, turn: count })),
  /** The number of searches without a result. */
  searches: count,
  /** The last search that did not find the marker. Missing if no search could read the list. */
  lastSearch: z.exactOptional(
    z.object({
      /** When it began; epoch milliseconds. */
      at: storedTime,
      /** True if every row arrived, and the list shows the text that contains the marker. */
      isComplete: z.boolean(),
    }),
  ),
  /**
   * An operator said that the request was not executed. Unless one more search finds the object, it is created again.
   */
  again: z.exactOptional(z.boolean()),
  /** The lease that last wrote this record. Missing if an operator wrote it. */
  owner: maybe,
});

/**
 * A signed request of a creating step that may have been executed. While it exists, the step may send no other request.
 */
export type OpenRequest = Omit<RequestItem, 'request' | 'owner'> & { request: KeptRequest };
export type FoundBy = NonNullable<OpenRequest['found']>;
export type Search = NonNullable<OpenRequest['lastSearch']>;

/**
 * The journal of one job, as read when it was opened. A write under an expired lease throws {@link LeaseLost}: a
 * completed step stays completed, and an open request belongs to the worker that took over.
 */
export type Journal = Awaited<ReturnType<typeof openJournal>>;

/**
 * Opens the journal of a job.
 * @param lease the writing worker's lease; undefined if no worker holds the job
 * @throws {UnreadableItem} if any item is unreadable, because then the worker does not know what may still be sent
 */
export async function openJournal(table: Table, jobId: string, clock: () => number, lease?: Lease) {
  const entries = new Map<string, StepEntry>();
  const requests = new Map<string, OpenRequest>();
  const kept = new Map<string, RequestItem>();
  const own = lease && { expression: '#owner = :owner', values: { owner: lease.owner } };
  const ownOrNone = own && { ...own, expression: `attribute_not_exists(#pk) OR ${own.expression}` };
  /**
   * Called after a write. A worker that claims the job after this check reads the journal later, so it finds the write.
   */
  const isHeld = async () => !lease || (await lease.isHeld());
  function putRequest(step: string, { request, ...open }: OpenRequest, condition: Expression | undefined) {
    const packed = { ...request, body: packBody(request.body) };
    return table.put({ ...keys.request(jobId, step), ...open, request: packed, owner: lease?.owner }, condition);
  }

  for (const { pk, sk, expiresAt, ...item } of await table.partition(keys.job(jobId).pk)) {
    const [kind, step = ''] = String(sk).split(/#(.*)/s);
    if (kind === 'step' && lease && expiresAt !== undefined) {
      await table.update(keys.step(jobId, step), { expression: 'REMOVE #expiresAt' });
    }
    if (kind === 'step') entries.set(step, entryOfItem(item, jobId, step));
    if (kind === 'request') kept.set(step, requestOfItem(item, jobId, step, clock()));
  }
  for (const [step, { owner, request, ...item }] of kept) {
    const asRead = unchangedSince('owner', owner);
    // The worker that completed the step stopped before it dropped the request.
    const isDone = entries.get(step)?.status === 'done';
    const open = { ...item, request: { ...request, body: unpackBody(request.body) } };
    if (!isDone) requests.set(step, open);
    if (!lease) continue;
    // From here on, the worker that stored the request can neither delete nor change it.
    const isTaken = isDone
      ? await table.delete(keys.request(jobId, step), asRead)
      : await putRequest(step, open, asRead);
    if (!isTaken) throw new LeaseLost(jobId);
  }

  return {
    /** Returns the steps in the order in which they began. */
    entries: (): StepEntry[] => [...entries.values()].sort((a, b) => a.startedAt - b.startedAt),
    entry: (step: string): StepEntry | undefined => entries.get(step),
    /**
     * Writes a step. After it returns for an entry with `sent`, the call may be sent, as after `keepRequest`. @throws
     * {LeaseLost}
     */
    async write(entry: StepEntry): Promise<void> {
      const unlessDone = {
        expression: 'attribute_not_exists(#pk) OR #status <> :done',
        values: { done: 'done' },
      };
      if (!(await table.put({ ...keys.step(jobId, entry.step), ...entry }, unlessDone))) {
        throw new LeaseLost(jobId);
      }
      entries.set(entry.step, entry);
      if (entry.status === 'begun' && entry.sent && !(await isHeld())) throw new LeaseLost(jobId);
    },
    openRequest: (step: string): OpenRequest | undefined => requests.get(step),
    /**
     * Keeps an open request. After it returns, the request may be sent, because every later worker of the job finds it.
     * @throws {LeaseLost}
     */
    async keepRequest(step: string, open: OpenRequest): Promise<void> {
      // A request that was dropped in the meantime is settled, and must not be written again.
      if (!(await putRequest(step, open, requests.has(step) ? own : ownOrNone))) throw new LeaseLost(jobId);
      if (!(await isHeld())) {
        if (!requests.has(step)) await table.delete(keys.request(jobId, step), ownOrNone);
        throw new LeaseLost(jobId);
      }
      requests.set(step, open);
    },
    async dropRequest(step: string): Promise<void> {
      if (!(await table.delete(keys.request(jobId, step), ownOrNone))) throw new LeaseLost(jobId);
      requests.delete(step);
    },
    /** Returns the steps with an open request. Their outcome is unknown. */
    openSteps: (): string[] => [...requests.keys()],
    /** Returns the open steps without an operator's decision. */
    undecidedSteps: (): string[] => [...requests].flatMap(([step, { again }]) => (again ? [] : [step])),
    /** Sets the journal to expire, because the job is about to end. Opening it with a lease removes the expiry. */
    async expire(): Promise<void> {
      const change = { expression: 'SET #expiresAt = :expiresAt', values: { expiresAt: expiry(clock()) } };
      const all = [
        ...[...entries.keys()].map((step) => keys.step(jobId, step)),
        ...[...requests.keys()].map((step) => keys.request(jobId, step)),
      ];
      await Promise.all(all.map((key) => table.update(key, change)));
    },
  };
}

/** More than any difference between clocks. The wait for a request signed further ahead would not end. */
const AHEAD_MS = 60 * 60_000;

function entryOfItem(item: Item, jobId: string, step: string): StepEntry {
  const what = `the journal of ${jobId}, step '${step}',`;
  const entry = readItem<StepEntry>(entryShape, { ...item, step }, what, WHAT_TO_DO);
  const isCreated = entry.status === 'done' && operations.get(entry.calls)?.createdId !== undefined;
  if (isCreated) readItem(createdShape, item, what, WHAT_TO_DO);
  return entry;
}

function requestOfItem(item: Item, jobId: string, step: string, now: number): RequestItem {
  const what = `the signed request of ${jobId}, step '${step}',`;
  const read = readItem<RequestItem>(requestShape, item, what, WHAT_TO_DO);
  const latest = z.number().check(z.lte(now + AHEAD_MS));
  readItem(
    z.object({ lookFrom: z.exactOptional(latest), request: z.object({ signedAt: latest }) }),
    read,
    what,
    WHAT_TO_DO,
  );
  return read;
}

const WHAT_TO_DO =
  'The job sends nothing more, because the relay cannot tell what it has created. Look in the service. Then correct the item in the table, or delete it if the step may be carried out again, and replay the job';
