import type * as z from 'zod';
import type { Connection } from '../connection/connection.ts';
import type { Holder } from '../grants/grant.ts';
import type { Operation } from '../partner/operation.ts';
import { readPage } from '../partner/paging.ts';
import { NeedsOperator, Refused, RetryAt } from './interruption.ts';
import type { Journal } from './journal.ts';
import type { Once } from './once.ts';
import type { PartnerCalls } from './partner-calls.ts';
import type { ToolSteps } from './tool-steps.ts';

/** A call outside the partner API that creates something: a comment, a message. */
export interface Reply<Kept> {
  /** For people: `GitHub comment`. */
  calls: string;
  /** Searches for the result of an earlier run before creating it again; `since` is when that run began. */
  find(since: number): Promise<Kept | undefined>;
  make(): Promise<Kept>;
}

/** The result of a creating step. */
export interface Created {
  id: string | number;
  /** Digest of the signed payload. It may be older than the payload of the last request. */
  signed: string;
}

/** The external effects of an automation. Each step is executed once per job, even after crashes and retries. */
export interface Steps {
  /**
   * Calls an operation that may be repeated harmlessly.
   *
   * @param step the step's name, unique within the job
   * @param keep selects the data that the job needs later; keep it small, because it is journalled
   * @param refused returns what to keep if the service refuses the call because of its content; it rethrows other
   * errors
   * @throws {Refused} if the service refuses the call and there is no `refused`
   */
  call<P extends z.ZodType, D extends z.ZodType, Kept>(
    step: string,
    operation: Operation<P, D>,
    payload: z.input<P>,
    keep: (data: z.output<D>) => Kept,
    refused?: (refusal: Refused) => Kept,
  ): Promise<Kept>;
  /**
   * Reads a list page by page. Each page is a separate step.
   *
   * @param keep selects the part of a row that the job needs later, or undefined; everything kept is journalled
   * @param idOf returns a row's id. If the list shifts between two pages, a row can be on both, and the later one is
   *   kept. All rows without an id are kept.
   * @param maxPages the most pages to read
   * @returns the kept rows, the number of pages, and whether the list is complete: it ended within `maxPages`, and
   *   every page arrived
   */
  list<P extends z.ZodType, Row, Kept>(
    step: string,
    operation: Operation<P, z.ZodType<Row[]>>,
    payload: z.input<P>,
    keep: (row: Row) => Kept | undefined,
    idOf: (kept: Kept) => string | number | undefined,
    maxPages: number,
  ): Promise<{ kept: Kept[]; pages: number; whole: boolean }>;
  /**
   * Calls a creating operation at most once; see decide.ts.
   *
   * @param marker the text in the payload that identifies the created object
   * @returns the id of the created object, and the digest of its payload
   */
  create<P extends z.ZodType, D extends z.ZodType>(
    step: string,
    operation: Operation<P, D>,
    payload: z.input<P>,
    marker?: string,
  ): Promise<Created>;
  /** Reads something outside the partner API. */
  read<Kept>(step: string, calls: string, read: () => Promise<Kept>): Promise<Kept>;
  /** Sends a reply once. A second try searches for it first. */
  reply<Kept>(step: string, reply: Reply<Kept>): Promise<Kept>;
  /** Calls of tools, as a person who has linked an account. */
  as(holder: Holder): ToolSteps;
  /** What the journal has of a step that is done. */
  kept<Kept>(step: string): Kept | undefined;
  /** Records that a step was skipped, and why. */
  skip(step: string, calls: string, why: string): Promise<void>;
}

export interface StepsOptions {
  connection: Connection;
  calls: PartnerCalls;
  journal: Journal;
  clock: () => number;
  /** When this run must have ended: the Lambda's time-out. Epoch milliseconds. */
  deadline: number;
  once: Once;
  /** Makes {@link Steps.as}. */
  tools: Pick<Steps, 'as'>;
}

/** The time limit for all calls of a reply together. */
const REPLY_TIMEOUT_MS = 20_000;

export function createSteps(options: StepsOptions): Steps {
  const { connection, calls: partner, journal, clock, deadline, once, tools } = options;
  return {
    async call(step, declared, payload, keep, refused) {
      const operation = connection.operation(declared);
      return once.run(step, operation.name, async () => {
        try {
          return keep((await partner.repeatable(operation, payload)).data);
        } catch (error) {
          if (refused && error instanceof Refused) return refused(error);
          throw error;
        }
      });
    },
    async list(step, declared, payload, keep, idOf, maxPages) {
      const operation = connection.operation(declared);
      const kept = [];
      let before: string | null = null;
      for (let page = 1; page <= maxPages; page++) {
        const part = await once.run(`${step} ${page}`, operation.name, async () => {
          const asked = Object.assign({}, payload, { page });
          const result = await partner.repeatable(operation, asked);
          const { repeats, last, fingerprint } = readPage(page, asked, result, before);
          const rows = repeats ? [] : result.data.map(keep).filter((row) => row !== undefined);
          return { rows, last, whole: !repeats, ...(fingerprint !== null && { fingerprint }) };
        });
        kept.push(...part.rows);
        if (part.last) return { kept: lastOfEach(kept, idOf), pages: page, whole: part.whole };
        before = part.fingerprint ?? null;
      }
      return { kept: lastOfEach(kept, idOf), pages: maxPages, whole: false };
    },
    async create(step, declared, payload, marker) {
      const operation = connection.operation(declared);
      const created = await once.run(step, operation.name, async (): Promise<Created> => {
        const creating = () => partner.creating(step, operation, payload, marker);
        return creating().catch(async (error) => {
          // For a step that a person decided, a NeedsOperator means that the last search found nothing. A Refused is
          // not a search result.
          const isVain = error instanceof NeedsOperator && !(error instanceof Refused);
          if (!isVain || !journal.openRequest(step)?.again) throw error;
          await journal.dropRequest(step);
          return creating();
        });
      });
      if (journal.openRequest(step)) await journal.dropRequest(step);
      return created;
    },
    read: (step, calls, read) => once.run(step, calls, read),
    async reply(step, { calls, find, make }) {
      return once.run(step, calls, async (begun) => {
        if (clock() + REPLY_TIMEOUT_MS > deadline) throw new RetryAt(clock(), 'this run has no time left for a reply');
        const made = begun && (await find(begun.startedAt));
        if (made !== undefined) return made;
        if (!begun) await once.write({ step, calls, status: 'begun', startedAt: clock() });
        return make();
      });
    },
    as: tools.as,
    kept<Kept>(step: string) {
      const known = journal.entry(step);
      return known?.status === 'done' ? (known.result as Kept) : undefined;
    },
    async skip(step, calls, why) {
      if (journal.entry(step)) return;
      const now = clock();
      await once.write({ step, calls, status: 'skipped', startedAt: now, finishedAt: now, note: why });
    },
  };
}

/** Removes duplicates. The order is that of the first occurrences. */
function lastOfEach<Kept>(rows: readonly Kept[], idOf: (row: Kept) => string | number | undefined): Kept[] {
  const withKeys = rows.map((row, index) => [String(idOf(row) ?? `without an id ${index}`), row] as const);
  return [...new Map(withKeys).values()];
}
