import { packBody, type SignedRequest, unpackBody } from '../partner/signed-request.ts';
import { expiry } from '../table/expiry.ts';
import { keys } from '../table/keys.ts';
import type { Expression, Item, Table } from '../table/table.ts';
import { type Lease, LeaseLost } from './job-store.ts';
import type { Newest } from './newest.ts';
import type { Send } from './sends.ts';

/** The record of a step. Times are epoch milliseconds. */
export interface StepEntry {
  step: string;
  /** The target of the call: `defects/create`, `GitHub comment`. */
  calls: string;
  status: 'begun' | 'done' | 'skipped' | 'failed';
  /** When it began for the first time. */
  startedAt: number;
  /** When it continued after a person's decision. It took from then, or from `startedAt`, until `finishedAt`. */
  resumedAt?: number;
  finishedAt?: number;
  /** The newest sends of its request, with those of its failed attempts. Missing for steps of earlier versions. */
  sends?: Newest<Send>;
  /** What settled the outcome of a creation whose answer was lost. */
  settledBy?: string;
  /** The part of the answer that the automation keeps. */
  result?: unknown;
  /** Why it was skipped, or the last error. */
  note?: string;
  failures?: number;
  /**
   * For a call of a tool that changes something and whose outcome is open: the link that it was sent with, and whether the
   * tool says that repeating the call does no harm.
   */
  sent?: { linkId: string; isRepeatable: boolean };
}

/** The marker text in the created object, and the payload fields that narrow the list to search. */
export interface FoundBy {
  marker: string;
  scope: Readonly<Record<string, unknown>>;
}

/**
 * A signed request of a creating step that may have been executed. While it exists, no other request may be sent for
 * the step.
 */
export interface OpenRequest {
  request: SignedRequest;
  /** The creating operation. Missing in requests of earlier versions. */
  operation?: string;
  /** Digest of its payload. */
  signed: string;
  /**
   * When the relay stops sending the request and starts to search; not before its last send has ended. Epoch
   * milliseconds.
   */
  lookFrom?: number;
  /**
   * How to find the created object. This belongs to these bytes, even if the automation would sign something else now.
   */
  found?: FoundBy | undefined;
  /** The number of searches without a result. */
  searches: number;
  /** A person said that it was not executed. Unless one more search finds it, it is created again. */
  again?: boolean;
}

/**
 * The journal of one job, as read when it was opened. A write under an expired lease throws {@link LeaseLost}: a
 * completed step stays completed, and an open request belongs to the worker that took over.
 */
export interface Journal {
  /** The steps in the order in which they began. */
  entries(): StepEntry[];
  entry(step: string): StepEntry | undefined;
  write(entry: StepEntry): Promise<void>;
  openRequest(step: string): OpenRequest | undefined;
  /**
   * After it returns, the request may be sent, because every later worker of the job finds it.
   * @throws {LeaseLost}
   */
  keepRequest(step: string, open: OpenRequest): Promise<void>;
  dropRequest(step: string): Promise<void>;
  /** The steps with an open request. Their outcome is unknown. */
  openSteps(): string[];
  /** The open steps that no person has decided yet. */
  undecidedSteps(): string[];
  /** Sets the journal to expire, because the job is about to end. Opening it with a lease removes the expiry. */
  expire(): Promise<void>;
}

/** @param lease the writing worker's lease; undefined if no worker holds the job */
export async function openJournal(table: Table, jobId: string, clock: () => number, lease?: Lease): Promise<Journal> {
  const entries = new Map<string, StepEntry>();
  const requests = new Map<string, OpenRequest>();
  const own = lease && { expression: 'attribute_not_exists(#pk) OR #owner = :owner', values: { owner: lease.owner } };
  const putRequest = (step: string, open: OpenRequest, condition: Expression | undefined) =>
    table.put({ ...keys.request(jobId, step), ...toItem(open), owner: lease?.owner }, condition);

  for (const { pk, sk, expiresAt, ...item } of await table.partition(keys.job(jobId).pk)) {
    const [kind, step = ''] = String(sk).split(/#(.*)/s);
    if (kind === 'step' && lease && expiresAt !== undefined) {
      await table.update(keys.step(jobId, step), { expression: 'REMOVE #expiresAt' });
    }
    if (kind === 'step') entries.set(step, item as Item & StepEntry);
    if (kind !== 'request') continue;
    const { owner, ...kept } = item as Item & RequestItem & { owner?: string };
    const open = fromItem(kept);
    requests.set(step, open);
    if (!lease) continue;
    // From here on, the worker that stored the request can neither delete nor change it.
    const asRead = owner === undefined ? 'attribute_not_exists(#owner)' : '#owner = :owner';
    const taken = await putRequest(step, open, {
      expression: asRead,
      ...(owner !== undefined && { values: { owner } }),
    });
    if (!taken) throw new LeaseLost(jobId);
  }

  return {
    entries: () => [...entries.values()].sort((a, b) => a.startedAt - b.startedAt),
    entry: (step) => entries.get(step),
    async write(entry) {
      const unlessDone = {
        expression: 'attribute_not_exists(#pk) OR #status <> :done OR #finishedAt = :finishedAt',
        values: { done: 'done', finishedAt: entry.finishedAt ?? 0 },
      };
      if (!(await table.put({ ...keys.step(jobId, entry.step), ...entry }, unlessDone))) {
        throw new LeaseLost(jobId);
      }
      entries.set(entry.step, entry);
    },
    openRequest: (step) => requests.get(step),
    async keepRequest(step, open) {
      if (!(await putRequest(step, open, own))) throw new LeaseLost(jobId);
      // The order matters: a worker that claims the job after this check reads the journal later and finds the request.
      if (lease && !(await lease.isHeld())) {
        if (!requests.has(step)) await table.delete(keys.request(jobId, step), own);
        throw new LeaseLost(jobId);
      }
      requests.set(step, open);
    },
    async dropRequest(step) {
      if (!(await table.delete(keys.request(jobId, step), own))) throw new LeaseLost(jobId);
      requests.delete(step);
    },
    openSteps: () => [...requests.keys()],
    undecidedSteps: () => [...requests].flatMap(([step, { again }]) => (again ? [] : [step])),
    async expire() {
      const change = { expression: 'SET #expiresAt = :expiresAt', values: { expiresAt: expiry(clock()) } };
      const all = [
        ...[...entries.keys()].map((step) => keys.step(jobId, step)),
        ...[...requests.keys()].map((step) => keys.request(jobId, step)),
      ];
      await Promise.all(all.map((key) => table.update(key, change)));
    },
  };
}

/** An open request as stored in the table. Earlier versions stored the body in its wire form. */
type RequestItem = Omit<OpenRequest, 'request'> & {
  request: Omit<SignedRequest, 'body'> & { body: Uint8Array | string };
};

function toItem(open: OpenRequest): RequestItem {
  return { ...open, request: { ...open.request, body: packBody(open.request.body) } };
}

function fromItem(item: RequestItem): OpenRequest {
  return { ...item, request: { ...item.request, body: unpackBody(item.request.body) } };
}
