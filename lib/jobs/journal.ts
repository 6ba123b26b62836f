import { packBody, type SignedRequest, unpackBody } from '../partner/signed-request.ts';
import { expiry } from '../table/expiry.ts';
import { keys } from '../table/keys.ts';
import type { Expression, Item, Table } from '../table/table.ts';
import { type Lease, LeaseLost } from './job-store.ts';

/** What a step did. Times are epoch milliseconds. */
export interface StepEntry {
  step: string;
  /** What it calls: `defects/create`, `GitHub comment`. */
  calls: string;
  status: 'begun' | 'done' | 'skipped' | 'failed';
  startedAt: number;
  finishedAt?: number;
  /** What the automation keeps of the answer. */
  result?: unknown;
  /** Why it was skipped, or what went wrong last. */
  note?: string;
  failures?: number;
}

/** The text that a created thing carries, and the fields of the payload that narrow the list of such things. */
export interface FoundBy {
  marker: string;
  scope: Readonly<Record<string, unknown>>;
}

/** A signed request of a creating step that may have been carried out. While it is there, only it may be sent. */
export interface OpenRequest {
  request: SignedRequest;
  /** Digest of its payload. */
  signed: string;
  /** From when on it is not sent any more, but looked for; not before its last send has ended. Epoch milliseconds. */
  lookFrom?: number;
  /** By what the created thing is found: of these bytes, whatever the automation would sign now. */
  found?: FoundBy | undefined;
  /** How often the created thing was looked for in vain. */
  searches: number;
  /** A person said that it was not carried out: unless one more search finds it, it is created again. */
  again?: boolean;
}

/**
 * The journal of one job. What it knows was read when it was opened. Whoever writes for a lease that ran out meanwhile
 * gets a {@link LeaseLost}: a step that is done stays done, and an open request belongs to the worker that took it over.
 */
export interface Journal {
  /** In the order in which the steps began. */
  entries(): StepEntry[];
  entry(step: string): StepEntry | undefined;
  write(entry: StepEntry): Promise<void>;
  openRequest(step: string): OpenRequest | undefined;
  /**
   * When it returns, the request may be sent: whoever takes the job over from now on finds it.
   * @throws {LeaseLost}
   */
  keepRequest(step: string, open: OpenRequest): Promise<void>;
  dropRequest(step: string): Promise<void>;
  /** The steps that have one: what became of them is unknown. */
  openSteps(): string[];
  /** Those of them that no person has decided yet. */
  undecidedSteps(): string[];
  /** The job is about to end, and its journal expires with it. Whoever opens it to go on lifts that. */
  expire(): Promise<void>;
}

/** @param lease of the worker that writes; without one nobody works on the job */
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
    // From here on the worker that kept it can neither drop nor change it.
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
      // In this order: whoever claims the job after this look reads the journal later still, and finds the request.
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

/** An open request as the table has it. Earlier versions kept the body as it is sent. */
type RequestItem = Omit<OpenRequest, 'request'> & {
  request: Omit<SignedRequest, 'body'> & { body: Uint8Array | string };
};

function toItem(open: OpenRequest): RequestItem {
  return { ...open, request: { ...open.request, body: packBody(open.request.body) } };
}

function fromItem(item: RequestItem): OpenRequest {
  return { ...item, request: { ...item.request, body: unpackBody(item.request.body) } };
}
