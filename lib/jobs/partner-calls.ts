import type * as z from 'zod';
import { type Budget, BudgetUnavailable, type Lane, type Slot } from '../budget/budget.ts';
import type { Connection } from '../connection/connection.ts';
import type { Outages } from '../connection/outages.ts';
import { digest } from '../digest.ts';
import type { Result } from '../partner/answer.ts';
import { type PartnerClient, pages } from '../partner/client.ts';
import { PartnerError, PartnerPayloadError, PartnerUnanswered } from '../partner/errors.ts';
import type { Operation } from '../partner/operation.ts';
import { operations } from '../partner/operations.ts';
import type { SignedRequest } from '../partner/signed-request.ts';
import { validate } from '../partner/validate.ts';
import { type Decision, decisions, type Outcome, outcomeOf } from './decide.ts';
import { Later, Park, Refused, StepFailed } from './interruption.ts';
import type { Journal, OpenRequest } from './journal.ts';

/** The service refuses a timestamp after five minutes; the same bytes are sent for four (design, promise 2). */
const RESEND_WINDOW_MS = 4 * 60_000;
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
/** Until a budget that cannot be read or written is asked again. */
const NO_BUDGET_PAUSE_MS = 30_000;

/** Calls of the partner API as a job makes them: within the budget, and decided by what becomes of them. */
export interface PartnerCalls {
  /** Calls an operation that may be repeated harmlessly. */
  repeatable<P extends z.ZodType, D extends z.ZodType>(
    operation: Operation<P, D>,
    payload: z.input<P>,
  ): Promise<Result<z.output<D>>>;
  /** Calls an operation that creates something, at most once for the step. */
  creating<P extends z.ZodType, D extends z.ZodType>(
    step: string,
    operation: Operation<P, D>,
    payload: z.input<P>,
    marker: string | undefined,
  ): Promise<Creation<z.output<D>>>;
}

/** What was created, and the digest of the payload that it was created with. */
export interface Creation<Data> {
  data: Data;
  signed: string;
}

export type CallNews = { news: 'rate limited' } | { news: 'credentials refused'; reason: string };

export interface PartnerCallsOptions {
  connection: Connection;
  lane: Lane;
  /** Whether the job has waited before: then it is ahead of new ones. */
  cameBack: boolean;
  budget: Budget;
  outages: Outages;
  journal: Journal;
  clock: () => number;
  sleep: (ms: number) => Promise<void>;
  /** When this run must have ended: the Lambda's time-out. Epoch milliseconds. */
  deadline: number;
  tell: (news: CallNews) => void;
}

export function createPartnerCalls(options: PartnerCallsOptions): PartnerCalls {
  const { connection, lane, budget, outages, journal, clock, sleep, deadline, tell } = options;

  /** Waits in place if the wait is short and the time is there; otherwise the job goes on later. */
  async function pauseUntil(at: number, why: string): Promise<void> {
    const ms = at - clock();
    if (ms > LONGEST_PAUSE_MS || at + connection.timeoutMs > deadline) throw new Later(at, why);
    if (ms > 0) await sleep(ms);
  }

  async function takeSlot(first: boolean): Promise<Slot> {
    // A call that the Lambda's end would cut off must not begin.
    if (clock() + connection.timeoutMs > deadline) throw new Later(clock(), 'this run has no time left for a call');
    const gate = await outages.gate(connection.name);
    if (!gate.open) throw new Later(gate.comeBackAt, gate.why);
    if (gate.probe) await probe();
    return slotOf(first);
  }

  async function slotOf(first: boolean): Promise<Slot> {
    for (let { cameBack } = options; ; cameBack = true) {
      const waitsUntil = Math.min(clock() + LONGEST_PAUSE_MS, deadline - connection.timeoutMs);
      const about = { connection: connection.name, limits: connection.limits };
      const answer = await budget.requestSlot({ ...about, lane, first, cameBack, waitsUntil }).catch((error) => {
        if (!(error instanceof BudgetUnavailable)) throw error;
        throw new Later(clock() + NO_BUDGET_PAUSE_MS, error.message);
      });
      if (!answer.granted) {
        await pauseUntil(answer.comeBackAt, answer.why);
        continue;
      }
      const { slot } = answer;
      if (slot.sendAt > clock()) await sleep(slot.sendAt - clock());
      if (await slot.isGood()) return slot;
      slot.giveUp();
    }
  }

  /** Finds out with a call that changes nothing whether the connection works again; a creation could get lost in it. */
  async function probe(): Promise<void> {
    const slot = await slotOf(true);
    const client = await connection.client();
    try {
      await send(slot, true, () => client.call(connection.operation(validate), {}));
    } catch (thrown) {
      const { error } = await outcomeTold(thrown, true);
      await act('wait for connection', error, true);
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

  /** Reads what became of a send, and tells the connection what it means for everyone on it. */
  async function outcomeTold(error: unknown, again: boolean): Promise<{ error: PartnerError; outcome: Outcome }> {
    if (!(error instanceof PartnerError)) throw error;
    const outcome = outcomeOf(error);
    const keyRefused = outcome === 'invalid signature' || outcome === 'unknown or revoked key';
    if (outcome === 'unauthorized') connection.suspectKey();
    if (keyRefused) {
      connection.suspectKey();
      tell({ news: 'credentials refused', reason: outcome });
    }
    // A first invalid signature may be a rotation, for which the secret has just been read again.
    const whole = decisions[outcome].repeatable === 'wait for connection' || (outcome === 'invalid signature' && again);
    if (whole) await outages.failed(connection.name, error.message);
    else if (outcome === 'no answer') await outages.suspect(connection.name, error.message);
    else await outages.answered(connection.name);
    return { error, outcome };
  }

  /** Sends within the slot, or within another one where it took too long to get here, and reports the slot's end. */
  async function send<D extends z.ZodType>(
    taken: Slot,
    first: boolean,
    call: () => Promise<Result<z.output<D>>>,
  ): Promise<Result<z.output<D>>> {
    let slot = taken;
    while (clock() > slot.goodUntil) {
      slot.giveUp();
      slot = await slotOf(first);
    }
    const result = await call().catch((error) => {
      const neverSent = error instanceof PartnerUnanswered ? !error.sent : error instanceof PartnerPayloadError;
      if (neverSent) slot.giveUp();
      else if (error instanceof PartnerError && error.status !== null) slot.answered();
      throw error;
    });
    slot.answered();
    await outages.answered(connection.name);
    return result;
  }

  /** What a decision means where no send is open: throws, or returns to sign anew at once. */
  async function act(decision: Decision, error: PartnerError, signedAnew: boolean): Promise<void> {
    if (decision === 'wait for budget') throw new Later(await pauseConnection(error), 'the service wants fewer calls');
    if (decision === 'park') throw new Refused(error);
    if (decision === 'sign anew' && !signedAnew) return;
    if (decision !== 'retry later') {
      const gate = await outages.gate(connection.name);
      if (!gate.open) throw new Later(gate.comeBackAt, gate.why);
    }
    throw new StepFailed(error.message, { cause: error });
  }

  async function callRepeatable<P extends z.ZodType, D extends z.ZodType>(
    operation: Operation<P, D>,
    payload: z.input<P>,
    first: boolean,
  ): Promise<Result<z.output<D>>> {
    for (let signedAnew = false; ; signedAnew = true) {
      const slot = await takeSlot(first);
      const client = await connection.client();
      try {
        return await send(slot, first, () => client.call(operation, payload));
      } catch (thrown) {
        const { error, outcome } = await outcomeTold(thrown, signedAnew);
        await act(decisions[outcome].repeatable, error, signedAnew);
      }
    }
  }

  async function callCreating<P extends z.ZodType, D extends z.ZodType>(
    step: string,
    operation: Operation<P, D>,
    payload: z.input<P>,
    marker: string | undefined,
  ): Promise<Creation<z.output<D>>> {
    let open = journal.openRequest(step);
    let unanswered = open !== undefined;
    for (let sends = 0, signedAnew = false; ; sends++) {
      if (open && (open.searches > 0 || clock() >= open.request.signedAt + RESEND_WINDOW_MS)) {
        return { data: await lookFor(step, operation, payload, marker, open), signed: open.signed };
      }
      const first = open !== undefined;
      const slot = await takeSlot(first);
      const client = await connection.client();
      if (!open) {
        open = { request: signed(client, operation, payload), signed: digest(payload), searches: 0 };
        await journal.keepRequest(step, open);
      }
      const { request } = open;
      try {
        const { data } = await send(slot, first, () => client.send(operation, request));
        return { data, signed: open.signed };
      } catch (thrown) {
        const { error, outcome } = await outcomeTold(thrown, signedAnew);
        const decision = decisions[outcome][unanswered ? 'creating, unanswered' : 'creating'];
        if (decision === 'look for it') {
          return { data: await lookFor(step, operation, payload, marker, open), signed: open.signed };
        }
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
      `${operation.name} was sent and never clearly answered; its marker ${marker} is not in the ${found.field} of anything in the first ${SEARCH_PAGES} pages of ${list.name}`,
    );
  }

  return { repeatable: (operation, payload) => callRepeatable(operation, payload, false), creating: callCreating };
}

function signed<P extends z.ZodType>(
  client: PartnerClient,
  operation: Operation<P>,
  payload: z.input<P>,
): SignedRequest {
  try {
    return client.sign(operation, payload);
  } catch (error) {
    if (error instanceof PartnerError) throw new Park(error.message, { cause: error });
    throw error;
  }
}
