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

/** A call outside the partner API that makes something: a comment, a message. */
export interface Reply<Kept> {
  /** For people: `GitHub comment`. */
  calls: string;
  /** Looks for what an earlier run may have made, before it is made again; `since` is when that run began. */
  find(since: number): Promise<Kept | undefined>;
  make(): Promise<Kept>;
}

/** What a creating step made. */
export interface Created {
  id: string | number;
  /** Digest of the payload that was signed, which may be an older one than the last that was asked for. */
  signed: string;
}

/** What an automation does outside: each step is carried out once per job, whatever happens in between. */
export interface Steps {
  /**
   * Calls an operation that may be repeated harmlessly.
   *
   * @param step its name, unique in the job
   * @param keep what of the data the job needs later; small, for it is journalled
   * @param refused what to keep where the service refuses it for what it is; it throws what is to be treated otherwise
   * @throws {Refused} for a refusal without `refused`
   */
  call<P extends z.ZodType, D extends z.ZodType, Kept>(
    step: string,
    operation: Operation<P, D>,
    payload: z.input<P>,
    keep: (data: z.output<D>) => Kept,
    refused?: (refusal: Refused) => Kept,
  ): Promise<Kept>;
  /**
   * Reads a list page by page, each a step of its own.
   *
   * @param keep what of a row the job needs later, or undefined; all that is kept of a page is journalled
   * @param idOf what tells two rows apart: a list that shifts between two pages has a row on both, and the later is
   *   kept; rows without an id are all kept
   * @param maxPages where the reading stops at the latest
   * @returns what was kept, from how many pages, and whether that is of the whole list: it ended before `maxPages`, and
   *   every page came
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
   * Calls an operation that creates something, at most once; see decide.ts.
   *
   * @param marker the text in the payload by which the created thing can be found
   * @returns the id of what was created, and which payload it was created with
   */
  create<P extends z.ZodType, D extends z.ZodType>(
    step: string,
    operation: Operation<P, D>,
    payload: z.input<P>,
    marker?: string,
  ): Promise<Created>;
  /** Reads something outside the partner API. */
  read<Kept>(step: string, calls: string, read: () => Promise<Kept>): Promise<Kept>;
  /** Makes a reply once. It is looked for before a second try. */
  reply<Kept>(step: string, reply: Reply<Kept>): Promise<Kept>;
  /** Calls of tools, as a person who has linked an account. */
  as(holder: Holder): ToolSteps;
  /** What the journal has of a step that is done. */
  kept<Kept>(step: string): Kept | undefined;
  /** Notes that a step was left out, and why. */
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

/** The longest that the calls of a reply may take together. */
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
          const asked = { ...(payload as object), page };
          const result = await partner.repeatable(operation, asked as never);
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
          // Of a step that a person decided, a NeedsOperator is a last search in vain; a Refused is no search.
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

/** In the order in which they came first. */
function lastOfEach<Kept>(rows: readonly Kept[], idOf: (row: Kept) => string | number | undefined): Kept[] {
  const withKeys = rows.map((row, index) => [String(idOf(row) ?? `without an id ${index}`), row] as const);
  return [...new Map(withKeys).values()];
}
