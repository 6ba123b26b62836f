import type * as z from 'zod';
import { digestFields } from '../../digest.ts';
import { isOfPeople, type Lane } from '../../service/budget/lanes.ts';
import type { Connection } from '../../service/connection/connection.ts';
import type { PartnerClient } from '../../service/partner/client.ts';
import { PartnerError } from '../../service/partner/errors.ts';
import type { Operation } from '../../service/partner/operation.ts';
import { operations } from '../../service/partner/operations/operations.ts';
import { kept, type SignedRequest } from '../../service/partner/signed-request.ts';
import type { Slots } from '../line/slots.ts';
import { decisions } from '../record/decide.ts';
import { NeedsOperator } from '../record/interruption.ts';
import type { FoundBy, Journal, OpenRequest, SentFields } from '../record/journal.ts';
import { ofEarlierTable, type ReplacedTable } from '../record/replaced-table.ts';
import type { SendLog } from '../record/sends.ts';
import { ListTooSlow, PAGES, type Readings, type Wanted } from './readings.ts';
import { sendJudged } from './send-judged.ts';
import type { Sending, Turn } from './sending.ts';

/** The service refuses a timestamp after five minutes; the same bytes are sent for four (docs/exactly-once.md#how). */
const RESEND_WINDOW_MS = 4 * 60_000;
/** The next send waits for the same time that has passed since the signing, within these limits. */
const RESEND_PAUSE_MS = { shortest: 250, longest: 10_000 };
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

/** The id of the created object, and what was sent of each field, as far as known. */
export interface Creation {
  id: string | number;
  sent: SentFields;
}

/** The identity of an object to create. */
export interface Identity {
  /** The text in the payload that the object is found by. */
  marker: string;
  /** The object cannot be older; epoch milliseconds. Without it, it may be as old as the job's event. */
  notBefore?: number | undefined;
  /** What a person does if it is unknown whether the object exists. */
  decide?: string;
}

/** Calls a creating operation at most once per step. */
export type Creating = <P extends z.ZodType, D extends z.ZodType>(
  step: string,
  operation: Operation<P, D>,
  payload: z.input<P>,
  identity: Identity | undefined,
  log: SendLog,
) => Promise<Creation>;

export interface CreationsOptions {
  connection: Connection;
  lane: Lane;
  journal: Journal;
  sending: Sending;
  slots: Slots;
  readings: Readings;
  replacedTable: ReplacedTable;
  /** When the job's event happened at the earliest; epoch milliseconds. */
  happenedAt: number;
  clock: () => number;
}

/** Calls of creating operations, each at most once per step; see decide.ts. */
export function createCreations(options: CreationsOptions): Creating {
  const { connection, lane, journal, sending, slots, readings, replacedTable, happenedAt, clock } = options;

  const callCreating: Creating = async (step, operation, payload, identity, log) => {
    const marker = identity?.marker;
    let open = journal.openRequest(step);
    if (!open) {
      const by = foundBy(operation, payload, marker);
      const created = await createdBefore(operation, by, identity, log);
      if (created) return created;
    }
    let unanswered = open !== undefined;
    let lastTurn: Turn | undefined;
    for (;;) {
      if (open && isPastResending(open, clock())) {
        return lookFor(step, operation, open.found ?? foundBy(operation, payload, marker), open, log);
      }
      const again = open && (await sameBytes(open));
      if (open && !again) {
        open = { ...open, lookFrom: clock() };
        await journal.keepRequest(step, open);
        continue;
      }
      const first = open !== undefined;
      const signsAgain = lastTurn !== undefined && open === undefined;
      const turn: Turn =
        lastTurn && signsAgain
          ? await sending.takeSlotAgain(lastTurn, first)
          : await sending.takeTurn(operation, first);
      lastTurn = turn;
      const client = again?.client ?? (await connection.client());
      const request = again?.request ?? signed(client, operation, payload);
      if (!open) {
        open = {
          request: kept(request),
          operation: operation.name,
          sent: digestFields(payload as object),
          found: foundBy(operation, payload, marker),
          searches: 0,
        };
        await journal.keepRequest(step, open);
      }
      const as = unanswered ? { sameBytes: true as const } : {};
      const options = { turn, wasOpen: unanswered, first, log, as };
      const sent = await sendJudged(sending, options, () => client.send(operation, request));
      if (sent.became === 'accepted') {
        if (unanswered) log.tell();
        if (unanswered) log.settle('the service accepted the same bytes when they were sent again');
        return { id: idOf(operation, sent.result.data), sent: open.sent };
      }
      if (sent.became === 'not carried out') await journal.dropRequest(step);
      const failure = sending.read(sent.error);
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
      open = undefined;
      if (decision === 'sign again' && !signsAgain) continue;
      await sending.report(turn, failure);
      await sending.act(decision, failure);
    }
  };

  /** @returns undefined if the key has been replaced: what another key signed cannot be sent again */
  async function sameBytes(open: OpenRequest): Promise<{ client: PartnerClient; request: SignedRequest } | undefined> {
    const client = await connection.client();
    const request = client.restore(open.request);
    return request && { client, request };
  }

  /** Settles an open creation with a search, or leaves it to a person. */
  async function lookFor(
    step: string,
    operation: Operation,
    by: FoundBy | undefined,
    request: OpenRequest,
    log: SendLog,
  ): Promise<Creation> {
    const wanted = wantedBy(operation, by);
    if (!wanted) {
      throw new NeedsOperator(
        `${operation.name} was sent and never clearly answered, and the relay has no way to search for it`,
      );
    }
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
      const { id } = await readings
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
        log.settle(`it was found by its marker in ${wanted.list.name}`);
        return { id, sent: open.sent };
      }
      open = { ...open, searches: open.searches + 1 };
      await journal.keepRequest(step, open);
      if (isLast) {
        throw new NeedsOperator(
          `${operation.name} was sent and never clearly answered; its marker ${wanted.marker} is not in the ${wanted.found.field} of anything in the first ${PAGES} pages of ${wanted.list.name}`,
        );
      }
    }
  }

  /**
   * After the table was lost or restored, searches before the first send for what was created with the earlier table.
   * @returns undefined if there is nothing
   * @throws {NeedsOperator} if a search cannot show that
   */
  async function createdBefore(
    operation: Operation,
    by: FoundBy | undefined,
    { notBefore = happenedAt, decide = 'check the service, and discard the job if it has it' }: Partial<Identity> = {},
    log: SendLog,
  ): Promise<Creation | undefined> {
    const earlier = await ofEarlierTable(replacedTable, notBefore, operation.name);
    if (!earlier) return undefined;
    const { until, unknown } = earlier;
    const wanted = wantedBy(operation, by);
    if (!wanted) throw new NeedsOperator(`${unknown}: the relay has no way to search for it; ${decide}`);
    const since = Math.min(clock() - OLDEST_READING_MS, until);
    const sought = await readings.find({ ...wanted, toTheEnd: true }, since, log);
    if (sought.id !== undefined) {
      log.settle(`it was created before the table was replaced, and found by its marker in ${wanted.list.name}`);
      return { id: sought.id, sent: {} };
    }
    if (sought.isComplete) return undefined;
    throw new NeedsOperator(
      `${unknown}: its marker ${wanted.marker} is not in what the relay can read of ${wanted.list.name}, which is not all of it; ${decide}`,
    );
  }

  function wantedBy({ found, createdId: idField }: Operation, by: FoundBy | undefined): Wanted | undefined {
    const list = found && operations.get(found.list);
    return list && by && idField !== undefined
      ? { ...by, idField, found, list: connection.operation(list) }
      : undefined;
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
