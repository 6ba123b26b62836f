import type * as z from 'zod';
import type { Connection } from '../../service/connection/connection.ts';
import type { Learned } from '../../service/connection/learned.ts';
import type { Operation } from '../../service/partner/operation.ts';
import { askForPage, PAGE_SIZE, type PageRead, type Paging } from '../../service/partner/pages.ts';
import { Refused } from '../record/interruption.ts';
import type { Journal, OpenRequest, SentFields } from '../record/journal.ts';
import type { SendLog } from '../record/sends.ts';
import type { ActingSteps } from './acting.ts';
import type { Once } from './once.ts';
import type { Fence, PartnerCalls } from './partner-calls.ts';
import type { ReplySteps } from './reply-steps.ts';

export interface Created {
  id: string | number;
  /** A digest of each field that was sent, as far as known. May be older than the payload of the last call. */
  sent: SentFields;
  /** The identity that jobs share, if there is a key. */
  thing?: OpenRequest['thing'];
}

export interface Identity {
  /** The text in the payload by which the object is found. Missing if no field can contain it. */
  marker?: string | undefined;
  /**
   * The earliest time at which the object can have been created; epoch milliseconds. Without it, the job's event is the
   * limit.
   */
  notBefore?: number | undefined;
  /**
   * The identity that jobs share: a digest of its key. Another job may have created the object before this job's event.
   */
  thing?: OpenRequest['thing'];
  /** Returns the identity of the next object of the key, after this one is released. */
  next?: () => Promise<Identity>;
  /** The instruction for a person if it is unknown whether the object exists. */
  decide?: string;
}

/** Calls a creating operation at most once per step. */
export type Creating = <P extends z.ZodType, D extends z.ZodType>(
  step: string,
  operation: Operation<P, D>,
  payload: z.input<P>,
  identity: Identity | undefined,
  log: SendLog,
) => Promise<Created>;

/** The external effects of an automation. Each step is executed once per job, even after crashes and retries. */
export interface JobSteps extends ReplySteps {
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
   * Calls an operation that sets fields. An earlier such call must not arrive after a later one.
   * @returns null, or what `refused` returns, as for {@link call}
   */
  set<P extends z.ZodType, D extends z.ZodType, Kept = null>(
    step: string,
    operation: Operation<P, D>,
    payload: z.input<P>,
    fence: Fence,
    refused?: (refusal: Refused) => Kept,
  ): Promise<Kept | null>;
  /**
   * Reads a list page by page. Each page is a separate step, and as large as the service takes unless the payload says
   * how large.
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
   * @param identity by which the created object is found again
   * @returns the id of the created object, and what was sent of each field
   */
  create<P extends z.ZodType, D extends z.ZodType>(
    step: string,
    operation: Operation<P, D>,
    payload: z.input<P>,
    identity?: Identity,
  ): Promise<Created>;
  /**
   * Reads something from GitHub or Slack. Counts against the outsiders' share of the day if an outside contributor
   * caused the job.
   */
  look: ReplySteps['read'];
  /** Sends a message or comment of a team's automation. Counts like `look`. */
  tell: ReplySteps['reply'];
  /** Returns the operation's other steps that earlier runs began or completed and that this run has not reached. */
  unreached(step: string, operation: string): string[];
  /** Turns an identifier that a person typed into the value of an operation's field. */
  idFrom: Learned['idFrom'];
  /** The part of the journal that automations and their steps use. */
  journal: Pick<Journal, 'entry' | 'entries' | 'openRequest' | 'openSteps' | 'keepRequest' | 'dropRequest'>;
  /** Calls tools as a person with a linked account. */
  as: ActingSteps['as'];
  /** Sets the title of the job: what the relay understood. */
  entitle(understood: string): void;
}

export interface StepsOptions {
  connection: Connection;
  learned: Learned;
  calls: Pick<PartnerCalls, 'repeatable'>;
  /** Counts a call that an outside contributor caused. Throws if their share of the day is used up. */
  takeShare(): Promise<void>;
  creating: Creating;
  journal: Journal;
  once: Once;
  replies: ReplySteps;
  as: ActingSteps['as'];
  entitle: JobSteps['entitle'];
}

export function createSteps(options: StepsOptions): JobSteps {
  const { connection, learned, calls, takeShare, creating, journal, once, replies, as, entitle } = options;

  /** The names of the steps that this run has reached. */
  const named = new Set<string>();

  function unreached(step: string, operation: string): string[] {
    const done = journal.entries().filter(({ calls, status }) => calls === operation && status === 'done');
    const open = journal.openSteps().filter((step) => journal.openRequest(step)?.operation === operation);
    const all = new Set([...done.map(({ step }) => step), ...open]);
    return [...all].filter((other) => other !== step && !named.has(other));
  }

  /** Runs a step with a call that may be repeated. */
  function repeatable<P extends z.ZodType, D extends z.ZodType, Kept, No>(
    step: string,
    declared: Operation<P, D>,
    payload: z.input<P>,
    keep: (data: z.output<D>) => Kept,
    refused?: (refusal: Refused) => No,
    fence?: Fence,
  ): Promise<Kept | No> {
    const operation = connection.operation(declared);
    named.add(step);
    return once.run(step, operation.name, async (_, log) => {
      try {
        const { data } = await calls.repeatable(operation, payload, { log, fence });
        await learned.fromRows(data);
        return keep(data);
      } catch (error) {
        if (refused && error instanceof Refused) return refused(error);
        throw error;
      }
    });
  }

  return {
    ...replies,
    tell: (step, reply) => replies.reply(step, reply, takeShare),
    look: (step, calls, look) => replies.read(step, calls, () => takeShare().then(look)),
    call: repeatable,
    set: (step, operation, payload, fence, refused) => repeatable(step, operation, payload, () => null, refused, fence),
    async list(step, declared, payload, keep, idOf, maxPages) {
      const operation = connection.operation(declared);
      const kept = [];
      let before: Part | undefined;
      for (let page = 1; page <= maxPages; page++) {
        named.add(`${step} ${page}`);
        const part = await once.run(`${step} ${page}`, operation.name, async (_, log) => {
          const { size = PAGE_SIZE, first, fingerprint = null } = before ?? {};
          const last = before && { fingerprint, paging: { size, first } };
          const ask = (sized: object) => calls.repeatable(operation, Object.assign({}, payload, sized), { log });
          const { result, read } = await askForPage(operation, payload as object, page - 1, last, ask, learned);
          await learned.fromRows(result?.data);
          const rows = (read.repeats ? [] : (result?.data ?? [])).map(keep).filter((row) => row !== undefined);
          return { rows, last: read.last, whole: read.whole, ...partOf(read) };
        });
        kept.push(...part.rows);
        if (part.last) return { kept: lastOfEach(kept, idOf), pages: page, whole: part.whole };
        before = part;
      }
      return { kept: lastOfEach(kept, idOf), pages: maxPages, whole: false };
    },
    async create(step, declared, payload, identity) {
      const operation = connection.operation(declared);
      named.add(step);
      const created = await once.run(step, operation.name, (_, log) =>
        creating(step, operation, payload, identity, log),
      );
      if (journal.openRequest(step)) await journal.dropRequest(step);
      return created;
    },
    unreached,
    journal,
    idFrom: (declared, field, text) => learned.idFrom(connection.operation(declared), field, text),
    as,
    entitle,
  };
}

/** The facts about a page that the journal keeps for the next page, if they differ from the assumptions. */
type Part = Partial<Paging> & { fingerprint?: string };

const partOf = ({ fingerprint, paging: { size, first } }: PageRead): Part => ({
  ...(fingerprint !== null && { fingerprint }),
  ...(size !== PAGE_SIZE && { size }),
  ...(first === 0 && { first }),
});

/** Removes duplicates: keeps the last row of each id, at the place of the first. */
function lastOfEach<Kept>(rows: readonly Kept[], idOf: (row: Kept) => string | number | undefined): Kept[] {
  const withKeys = rows.map((row, index) => [String(idOf(row) ?? `without an id ${index}`), row] as const);
  return [...new Map(withKeys).values()];
}
