import type * as z from 'zod';
import { isOfPeople, type Lane } from '../budget/lanes.ts';
import type { Connection } from '../connection/connection.ts';
import { digest } from '../digest.ts';
import type { PartnerClient } from '../partner/client.ts';
import { PartnerError } from '../partner/errors.ts';
import type { Operation } from '../partner/operation.ts';
import { operations } from '../partner/operations.ts';
import type { SignedRequest } from '../partner/signed-request.ts';
import { decisions } from './decide.ts';
import { NeedsOperator } from './interruption.ts';
import type { FoundBy, Journal, OpenRequest } from './journal.ts';
import { ListTooSlow, PAGES, type Readings } from './readings.ts';
import type { Sending, Turn } from './sending.ts';
import type { SendLog } from './sends.ts';
import type { Slots } from './slots.ts';

/** The service refuses a timestamp after five minutes; the same bytes are sent for four (docs/exactly-once.md#how). */
const RESEND_WINDOW_MS = 4 * 60_000;
/** The next send waits for the same time that has passed since the signing, within these limits. */
const RESEND_PAUSE_MS = { shortest: 250, longest: 30_000 };
/**
 * When the relay searches for the created object, after its last send. A list may lag behind, and the service may still
 * be processing the request, so the relay searches more than once. Background jobs wait before the first search, so
 * that one reading of the list serves many jobs. People do not wait.
 */
const LOOKS_AFTER_MS = {
  people: [1_000, 10_000, 30_000, 90_000],
  background: [10_000, 30_000, 90_000],
} as const;
/** An older reading of a list cannot prove that an object does not exist. */
const OLDEST_READING_MS = 10_000;
/** How long the last search waits for a failing list operation to recover. */
const LONGEST_WAIT_MS = 3_600_000;

/** The id of the created object, and the digest of its payload. */
export interface Creation {
  id: string | number;
  signed: string;
}

/** Calls a creating operation at most once per step. */
export type Creating = <P extends z.ZodType, D extends z.ZodType>(
  step: string,
  operation: Operation<P, D>,
  payload: z.input<P>,
  marker: string | undefined,
  log: SendLog,
) => Promise<Creation>;

export interface CreationsOptions {
  connection: Connection;
  lane: Lane;
  journal: Journal;
  sending: Sending;
  slots: Slots;
  readings: Readings;
  clock: () => number;
}

/** Calls of creating operations, each at most once per step; see decide.ts. */
export function createCreations(options: CreationsOptions): Creating {
  const { connection, lane, journal, sending, slots, readings, clock } = options;

  const callCreating: Creating = async (step, operation, payload, marker, log) => {
    let open = journal.openRequest(step);
    let unanswered = open !== undefined;
    let turn: Turn | undefined;
    for (;;) {
      if (open && isPastResending(open, clock())) {
        return lookFor(step, operation, open.found ?? foundBy(operation, payload, marker), open, log);
      }
      const first = open !== undefined;
      const signsAgain = turn !== undefined && open === undefined;
      turn = turn && signsAgain ? await sending.takeSlotAgain(turn, first) : await sending.takeTurn(operation, first);
      const client = await connection.client();
      if (!open) {
        open = {
          request: signed(client, operation, payload),
          operation: operation.name,
          signed: digest(payload),
          found: foundBy(operation, payload, marker),
          searches: 0,
        };
        await journal.keepRequest(step, open);
      }
      const { request } = open;
      let hasLeft = unanswered;
      try {
        const as = unanswered ? { sameBytes: true as const } : {};
        const { data } = await sending.send(turn, { first, log, as }, () => {
          hasLeft = true;
          return client.send(operation, request);
        });
        if (unanswered) log.tell();
        if (unanswered) log.settle('the service accepted the same bytes when they were sent again');
        return { id: idOf(operation, data), signed: open.signed };
      } catch (thrown) {
        // The slot expired before the first send, and no other came in time, so nothing is open.
        if (!hasLeft) await journal.dropRequest(step);
        const failure = sending.read(thrown);
        const decision = decisions[failure.outcome][unanswered ? 'creating, unanswered' : 'creating'];
        if (decision === 'look for it') {
          log.tell();
          open = { ...open, lookFrom: clock() };
          await journal.keepRequest(step, open);
          await sending.report(turn, failure);
          continue;
        }
        if (decision === 'same bytes') {
          unanswered = true;
          log.tell();
          if (failure.outcome === 'rate limited') throw await sending.pause(failure.error);
          await sending.report(turn, failure);
          const { shortest, longest } = RESEND_PAUSE_MS;
          const pause = Math.min(Math.max(clock() - request.signedAt, shortest), longest);
          const why = `the same request is sent again, because its outcome is unknown: ${failure.error.message}`;
          await slots.pauseUntil(clock() + pause, why, 'answer');
          continue;
        }
        // Every send of these bytes was clearly refused, so the request is closed.
        await journal.dropRequest(step);
        open = undefined;
        if (decision === 'sign again' && !signsAgain) continue;
        await sending.report(turn, failure);
        await sending.act(decision, failure);
      }
    }
  };

  /** Settles an open creation with a search, or leaves it to a person. */
  async function lookFor(
    step: string,
    operation: Operation,
    by: FoundBy | undefined,
    request: OpenRequest,
    log: SendLog,
  ): Promise<Creation> {
    const { found, createdId: idField } = operation;
    const list = found && operations.get(found.list);
    if (!found || !list || !by || !idField) {
      throw new NeedsOperator(
        `${operation.name} was sent and never clearly answered, and the relay has no way to search for it`,
      );
    }
    const wanted = { ...by, idField, found, list: connection.operation(list) };
    const { lookFrom = clock() } = request;
    const looks = LOOKS_AFTER_MS[isOfPeople(lane) ? 'people' : 'background'];
    let open = { ...request, lookFrom };
    if (request.lookFrom === undefined) await journal.keepRequest(step, open);
    for (;;) {
      const isLast = open.searches >= looks.length - 1;
      // The service may still finish the request.
      if (isLast && clock() < lookFrom + LONGEST_WAIT_MS) await sending.ensureWorks(operation);
      const lookAt = lookFrom + (looks[open.searches] ?? looks[0]);
      await slots.pauseUntil(
        lookAt,
        `${operation.name} was not clearly answered; the relay searches for what it may have created`,
        'answer',
      );
      const id = await readings
        .find(wanted, Math.max(lookAt, clock() - OLDEST_READING_MS), log)
        .catch(async (error) => {
          if (!(error instanceof ListTooSlow)) throw error;
          await journal.keepRequest(step, { ...open, searches: open.searches + 1 });
          // A person who decided to create it again relies on this search, so it must come to an end.
          throw isLast && !open.again
            ? new NeedsOperator(`${operation.name} was never clearly answered, and ${error.message}`)
            : error;
        });
      log.tell();
      if (id !== undefined) {
        log.settle(`it was found by its marker in ${list.name}`);
        return { id, signed: open.signed };
      }
      open = { ...open, searches: open.searches + 1 };
      await journal.keepRequest(step, open);
      if (isLast) {
        throw new NeedsOperator(
          `${operation.name} was sent and never clearly answered; its marker ${wanted.marker} is not in the ${found.field} of anything in the first ${PAGES} pages of ${list.name}`,
        );
      }
    }
  }

  return callCreating;
}

/** True if another send of the same bytes could no longer show the outcome of the first. */
function isPastResending({ lookFrom, request }: OpenRequest, now: number): boolean {
  return lookFrom !== undefined || now >= request.signedAt + RESEND_WINDOW_MS;
}

function idOf(operation: Operation, data: unknown): string | number {
  const id = (data as Record<string, unknown>)[operation.createdId ?? ''];
  if (typeof id === 'string' || typeof id === 'number') return id;
  throw new NeedsOperator(
    `${operation.name} succeeded, but its answer has no ${operation.createdId}; the service has it now`,
  );
}

function foundBy({ found }: Operation, payload: unknown, marker: string | undefined): FoundBy | undefined {
  if (!found || !marker) return undefined;
  const sent = payload as Record<string, unknown>;
  return { marker, scope: Object.fromEntries(found.scope.map((field) => [field, sent[field]])) };
}

function signed<P extends z.ZodType>(
  client: PartnerClient,
  operation: Operation<P>,
  payload: z.input<P>,
): SignedRequest {
  try {
    return client.sign(operation, payload);
  } catch (error) {
    if (error instanceof PartnerError) throw new NeedsOperator(error.message, { cause: error });
    throw error;
  }
}
