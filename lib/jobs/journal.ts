import type { SignedRequest } from '../partner/signed-request.ts';
import { expiry } from '../table/expiry.ts';
import { keys } from '../table/keys.ts';
import type { Item, Table } from '../table/table.ts';
import { LeaseLost } from './job-store.ts';

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

/** A signed request of a creating step that may have been carried out. While it is there, only it may be sent. */
export interface OpenRequest {
  request: SignedRequest;
  /** Digest of its payload. */
  signed: string;
  /** How often the created thing was looked for in vain. */
  searches: number;
}

/** The journal of one job. What it knows was read when it was opened; the job's lease keeps others from writing. */
export interface Journal {
  /** In the order in which the steps began. */
  entries(): StepEntry[];
  entry(step: string): StepEntry | undefined;
  write(entry: StepEntry): Promise<void>;
  openRequest(step: string): OpenRequest | undefined;
  /** @throws {LeaseLost} where another worker has signed one for that step meanwhile */
  keepRequest(step: string, open: OpenRequest): Promise<void>;
  dropRequest(step: string): Promise<void>;
  /** The steps that have one: what became of them is unknown. */
  openSteps(): string[];
}

export async function openJournal(table: Table, jobId: string, clock: () => number): Promise<Journal> {
  const entries = new Map<string, StepEntry>();
  const requests = new Map<string, OpenRequest>();
  for (const { pk, sk, expiresAt, ...item } of await table.partition(keys.job(jobId).pk)) {
    const [kind, step = ''] = String(sk).split(/#(.*)/s);
    if (kind === 'step') entries.set(step, item as unknown as StepEntry);
    if (kind === 'request') requests.set(step, item as unknown as OpenRequest);
  }
  const withExpiry = (item: object): Item => ({ ...item, expiresAt: expiry(clock()) });

  return {
    entries: () => [...entries.values()].sort((a, b) => a.startedAt - b.startedAt),
    entry: (step) => entries.get(step),
    async write(entry) {
      await table.put({ ...keys.step(jobId, entry.step), ...withExpiry(entry) });
      entries.set(entry.step, entry);
    },
    openRequest: (step) => requests.get(step),
    async keepRequest(step, open) {
      const first = { expression: 'attribute_not_exists(#pk)' };
      const condition = requests.has(step) ? undefined : first;
      if (!(await table.put({ ...keys.request(jobId, step), ...withExpiry(open) }, condition))) {
        throw new LeaseLost(jobId);
      }
      requests.set(step, open);
    },
    async dropRequest(step) {
      await table.delete(keys.request(jobId, step));
      requests.delete(step);
    },
    openSteps: () => [...requests.keys()],
  };
}
