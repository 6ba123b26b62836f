import type * as z from 'zod';
import type { Budget, Lane } from '../budget/budget.ts';
import type { Connection } from '../connection/connection.ts';
import type { Result } from '../partner/answer.ts';
import { type PartnerClient, pages } from '../partner/client.ts';
import { PartnerError } from '../partner/errors.ts';
import type { Operation } from '../partner/operation.ts';
import { operations } from '../partner/operations.ts';
import { type Decision, decisions, type Outcome, outcomeOf } from './decide.ts';
import { Interruption, Later, Park, StepFailed } from './interruption.ts';
import type { Journal, OpenRequest, StepEntry } from './journal.ts';

/** The service refuses a timestamp after five minutes; the same bytes are sent for four (design, promise 2). */
export const RESEND_WINDOW_MS = 4 * 60_000;
/** Waits up to this long stay in the Lambda. */
const LONGEST_PAUSE_MS = 5_000;
const RESEND_PAUSES_MS = [250, 1_000, 3_000, 10_000, 30_000];
/** A list may lag behind: what was not found is looked for once more after this long. */
const SEARCH_AGAIN_MS = 60_000;
const SEARCHES = 2;
const SEARCH_PAGES = 10;
const SEARCH_PAGE_SIZE = 100;
/** Where a 429 says nothing of its own. */
const RATE_LIMIT_PAUSE_MS = 60_000;

/** A call outside the partner API that makes something: a comment, a message. */
export interface Reply<Kept> {
  /** For people: `GitHub comment`. */
  calls: string;
  /** Looks for what an earlier run may have made, before it is made again; `since` is when that run began. */
  find(since: number): Promise<Kept | undefined>;
  make(): Promise<Kept>;
}

/** What an automation does outside: each step is carried out once per job, whatever happens in between. */
export interface Steps {
  /**
   * Calls the partner API within the budget. A creating operation is carried out at most once; see decide.ts.
   *
   * @param step its name, unique in the job
   * @param keep what of the data the job needs later; small, for it is journalled
   * @param marker for creating operations: the text in the payload by which the created thing can be found
   */
  call<P extends z.ZodType, D extends z.ZodType, Kept>(
    step: string,
    operation: Operation<P, D>,
    payload: z.input<P>,
    keep: (data: z.output<D>) => Kept,
    marker?: string,
  ): Promise<Kept>;
  /** Makes a reply once. It is looked for before a second try. */
  reply<Kept>(step: string, reply: Reply<Kept>): Promise<Kept>;
  /** Notes that a step was left out, and why. */
  skip(step: string, calls: string, why: string): Promise<void>;
}

export interface StepsOptions {
  connection: Connection;
  lane: Lane;
  budget: Budget;
  journal: Journal;
  clock: () => number;
  sleep: (ms: number) => Promise<void>;
  /** When this run must have ended: the Lambda's time-out. Epoch milliseconds. */
  deadline: number;
  tell: (news: StepNews) => void;
}

/** What happened in a step. */
export type StepNews =
  | { news: 'step'; entry: StepEntry; isOperation: boolean }
  | { news: 'rate limited' }
  | { news: 'credentials refused'; reason: string };

export function createSteps(options: StepsOptions): Steps {
  const { connection, lane, budget, journal, clock, sleep, deadline, tell } = options;

  async function write(entry: StepEntry): Promise<void> {
    await journal.write(entry);
    if (entry.status !== 'begun') tell({ news: 'step', entry, isOperation: operations.has(entry.calls) });
  }

  /** Waits in place if the wait is short and the time is there; otherwise the job goes on later. */
  async function pauseUntil(at: number, why: string): Promise<void> {
    const ms = at - clock();
    if (ms > LONGEST_PAUSE_MS || at + connection.timeoutMs > deadline) throw new Later(at, why);
    if (ms > 0) await sleep(ms);
  }

  async function takeSlot(first: boolean): Promise<void> {
    // A call that the Lambda's end would cut off must not begin.
    if (clock() + connection.timeoutMs > deadline) throw new Later(clock(), 'this run has no time left for a call');
    for (;;) {
      const answer = await budget.requestSlot({ connection: connection.name, limits: connection.limits, lane, first });
      if (answer.granted) return;
      await pauseUntil(answer.comeBackAt, answer.why);
    }
  }

  /** A 429 stops everyone on the connection. */
  async function pauseConnection(error: PartnerError): Promise<number> {
    tell({ news: 'rate limited' });
    const { retryAfterSeconds } = error;
    const until = clock() + (retryAfterSeconds === null ? RATE_LIMIT_PAUSE_MS : retryAfterSeconds * 1000);
    await budget.pause(connection.name, until);
    return until;
  }

  function outcomeTold(error: unknown): { error: PartnerError; outcome: Outcome } {
    if (!(error instanceof PartnerError)) throw error;
    const outcome = outcomeOf(error);
    if (outcome === 'invalid signature' || outcome === 'unknown or revoked key') {
      connection.suspectKey();
      tell({ news: 'credentials refused', reason: outcome });
    }
    return { error, outcome };
  }

  /** What a decision means where no send is open: throws, or returns to sign anew at once. */
  async function act(decision: Decision, error: PartnerError, signedAnew: boolean): Promise<void> {
    if (decision === 'wait for budget') throw new Later(await pauseConnection(error), 'the service wants fewer calls');
    if (decision === 'park') throw new Park(error.message, { cause: error });
    if (decision !== 'sign anew' || signedAnew) throw new StepFailed(error.message, { cause: error });
  }

  async function callRepeatable<P extends z.ZodType, D extends z.ZodType>(
    operation: Operation<P, D>,
    payload: z.input<P>,
    first: boolean,
  ): Promise<Result<z.output<D>>> {
    for (let signedAnew = false; ; signedAnew = true) {
      await takeSlot(first);
      const client = await connection.client();
      try {
        return await client.call(operation, payload);
      } catch (thrown) {
        const { error, outcome } = outcomeTold(thrown);
        await act(decisions[outcome].repeatable, error, signedAnew);
      }
    }
  }

  async function callCreating<P extends z.ZodType, D extends z.ZodType>(
    step: string,
    operation: Operation<P, D>,
    payload: z.input<P>,
    marker: string | undefined,
  ): Promise<z.output<D>> {
    let open = journal.openRequest(step);
    let unanswered = open !== undefined;
    for (let sends = 0, signedAnew = false; ; sends++) {
      if (open && (open.searches > 0 || clock() >= open.request.signedAt + RESEND_WINDOW_MS)) {
        return lookFor(step, operation, payload, marker, open);
      }
      await takeSlot(open !== undefined);
      const client = await connection.client();
      if (!open) {
        open = { request: client.sign(operation, payload), searches: 0 };
        await journal.keepRequest(step, open);
      }
      try {
        return (await client.send(operation, open.request)).data;
      } catch (thrown) {
        const { error, outcome } = outcomeTold(thrown);
        const decision = decisions[outcome][unanswered ? 'creating, unanswered' : 'creating'];
        if (decision === 'look for it') return lookFor(step, operation, payload, marker, open);
        if (decision === 'same bytes') {
          unanswered = true;
          const pause = RESEND_PAUSES_MS[Math.min(sends, RESEND_PAUSES_MS.length - 1)] ?? 0;
          const next = outcome === 'rate limited' ? await pauseConnection(error) : clock() + pause;
          await pauseUntil(
            next,
            `the same request is sent again, for nobody knows what became of it: ${error.message}`,
          );
        } else {
          // Every send of these bytes was clearly refused: they are done with.
          await journal.dropRequest(step);
          open = undefined;
          await act(decision, error, signedAnew);
          signedAnew = true;
        }
      }
    }
  }

  /** Decides an open creation by what can be found of it, or leaves it to a person. */
  async function lookFor<P extends z.ZodType, D extends z.ZodType>(
    step: string,
    operation: Operation<P, D>,
    payload: z.input<P>,
    marker: string | undefined,
    open: OpenRequest,
  ): Promise<z.output<D>> {
    const { found } = operation;
    const list = found && operations.get(found.list);
    if (!found || !list || !marker) {
      throw new Park(`${operation.name} was sent and never clearly answered, and leaves nothing to look for it by`);
    }
    const sent = payload as Record<string, unknown>;
    const scope = Object.fromEntries(found.scope.map((field) => [field, sent[field]]));
    const call: PartnerClient['call'] = (listing, filter) =>
      callRepeatable(connection.operation(listing), filter, true);
    for await (const page of pages(call, list, { ...scope, [found.pageSize]: SEARCH_PAGE_SIZE }, SEARCH_PAGES)) {
      const row = (page.data as Record<string, unknown>[]).find((row) => String(row[found.field]).includes(marker));
      if (row) return operation.data.parse(row);
    }
    const searches = open.searches + 1;
    await journal.keepRequest(step, { ...open, searches });
    if (searches < SEARCHES) throw new Later(clock() + SEARCH_AGAIN_MS, `${operation.name} is looked for once more`);
    throw new Park(
      `${operation.name} was sent and never clearly answered; its marker is not in the newest ${SEARCH_PAGES} pages of ${list.name}`,
    );
  }

  /** Runs one step unless it is done, and journals what became of it. */
  async function once<Kept>(
    step: string,
    calls: string,
    run: (begun: StepEntry | undefined) => Promise<Kept>,
  ): Promise<Kept> {
    const known = journal.entry(step);
    if (known?.status === 'done') return known.result as Kept;
    const startedAt = known?.startedAt ?? clock();
    try {
      const result = await run(known);
      await write({ step, calls, status: 'done', startedAt, finishedAt: clock(), result });
      return result;
    } catch (error) {
      if (!(error instanceof Later) && error instanceof Interruption) {
        const failures = (known?.failures ?? 0) + 1;
        await write({ step, calls, status: 'failed', startedAt, finishedAt: clock(), note: error.message, failures });
      }
      throw error;
    }
  }

  return {
    async call(step, declared, payload, keep, marker) {
      const operation = connection.operation(declared);
      const creates = operation.effect === 'create' || operation.effect === 'unknown';
      const kept = await once(step, operation.name, async () =>
        keep(
          creates
            ? await callCreating(step, operation, payload, marker)
            : (await callRepeatable(operation, payload, false)).data,
        ),
      );
      if (journal.openRequest(step)) await journal.dropRequest(step);
      return kept;
    },
    async reply(step, { calls, find, make }) {
      return once(step, calls, async (begun) => {
        const made = begun && (await find(begun.startedAt));
        if (made !== undefined) return made;
        if (!begun) await write({ step, calls, status: 'begun', startedAt: clock() });
        return make();
      });
    },
    async skip(step, calls, why) {
      if (journal.entry(step)) return;
      const now = clock();
      await write({ step, calls, status: 'skipped', startedAt: now, finishedAt: now, note: why });
    },
  };
}
