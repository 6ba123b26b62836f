import type * as z from 'zod';
import { decisions } from '../../decide.ts';
import { digestFields } from '../../digest.ts';
import type { Mark } from '../../send-once.ts';
import { isOfPeople, type Lane } from '../../service/budget/lanes.ts';
import type { Connection } from '../../service/connection/connection.ts';
import type { Result } from '../../service/partner/answer.ts';
import type { PartnerClient } from '../../service/partner/client.ts';
import { PartnerError } from '../../service/partner/errors.ts';
import type { Operation } from '../../service/partner/operation.ts';
import { operations } from '../../service/partner/operations/operations.ts';
import { kept as keptForm, type SignedRequest } from '../../service/partner/signed-request.ts';
import type { Table } from '../../state/table/table.ts';
import { NeedsOperator } from '../record/interruption.ts';
import type { FoundBy, Journal, OpenRequest, SentFields } from '../record/journal.ts';
import { ofEarlierTable, type ReplacedTable } from '../record/replaced-table.ts';
import type { SendLog } from '../record/sends.ts';
import type { PartnerCalls } from './partner-calls.ts';
import { createReadings, ListTooSlow, PAGES, type Wanted } from './readings.ts';
import type { Turn } from './turns.ts';

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

/** What a creating step created. */
export interface Created {
  id: string | number;
  /** What was sent of each field, as far as known. It may be older than the payload of the last call. */
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
) => Promise<Created>;

/** A signed request, and the client that sends it. */
interface Ready {
  client: PartnerClient;
  request: SignedRequest;
}

export interface CreationsOptions {
  calls: PartnerCalls;
  table: Table;
  connection: Connection;
  lane: Lane;
  journal: Journal;
  replacedTable: ReplacedTable;
  /** When the job's event happened at the earliest; epoch milliseconds. */
  happenedAt: number;
  clock: () => number;
}

/** Calls of creating operations, each at most once per step; see decide.ts. */
export function createCreations(options: CreationsOptions): Creating {
  const { calls, connection, lane, journal, replacedTable, happenedAt, clock } = options;
  const { pauses, turns, rateLimits, sending } = calls;
  const readings = createReadings(options);

  const callCreating: Creating = async (step, operation, payload, identity, log) => {
    const by = foundBy(operation, payload, identity?.marker);
    let isUnanswered = journal.openRequest(step) !== undefined;
    if (!isUnanswered) {
      const created = await createdBefore(operation, by, identity, log);
      if (created) return created;
    }
    let refused: Turn | undefined;
    for (;;) {
      const open = journal.openRequest(step);
      if (open && isPastResending(open, clock())) {
        const found = await lookFor(step, operation, open.found ?? by, open, log);
        if (found) return found;
        // A person said that it was not carried out, and that is what the search shows.
        await journal.dropRequest(step);
        return callCreating(step, operation, payload, identity, log);
      }
      const kept = open && (await sameBytes(open));
      if (open && !kept) {
        await journal.keepRequest(step, { ...open, lookFrom: clock() });
        continue;
      }
      const turn: Turn = refused ? await turns.takeAgain(refused) : await turns.take(operation, open !== undefined);
      const sent = await sending.send({
        turn,
        mark: markOf(step, operation, payload, by, kept),
        wasOpen: isUnanswered,
        log,
        as: isUnanswered ? { sameBytes: true } : {},
      });
      const sentNow = journal.openRequest(step);
      if (sent.became === 'accepted') {
        if (isUnanswered) log.tell();
        if (isUnanswered) log.settle('the service accepted the same bytes when they were sent again');
        return { id: idOf(operation, sent.result.data), sent: sentNow?.sent ?? {} };
      }
      const { failure } = sent;
      const decision = decisions[failure.outcome][isUnanswered ? 'creating, unanswered' : 'creating'];
      if (sentNow && decision === 'look for it') {
        log.tell();
        await journal.keepRequest(step, { ...sentNow, lookFrom: clock() });
        await turns.failed(turn, failure);
      } else if (sentNow && decision === 'same bytes') {
        isUnanswered = true;
        refused = undefined;
        log.tell();
        if (failure.outcome === 'rate limited') throw await rateLimits.met(failure.error);
        await turns.failed(turn, failure);
        const { shortest, longest } = RESEND_PAUSE_MS;
        const pause = Math.min(Math.max(clock() - sentNow.request.signedAt, shortest), longest);
        const why = `the same request is sent again, because its outcome is unknown: ${failure.error.message}`;
        await pauses.until(clock() + pause, why, 'answer');
      } else if (decision === 'sign again' && !refused) {
        refused = turn;
      } else {
        await turns.failed(turn, failure);
        await sending.act(decision, failure);
      }
    }
  };

  /** @returns undefined if the key has been replaced: what another key signed cannot be sent again */
  async function sameBytes(open: OpenRequest): Promise<Ready | undefined> {
    const client = await connection.client();
    const request = client.restore(open.request);
    return request && { client, request };
  }

  /** @param kept the request as the journal has it; without it, a new one is signed and kept */
  function markOf<P extends z.ZodType, D extends z.ZodType>(
    step: string,
    operation: Operation<P, D>,
    payload: z.input<P>,
    by: FoundBy | undefined,
    kept: Ready | undefined,
  ): Mark<void, () => Promise<Result<z.output<D>>>> {
    let ready = kept;

    async function signAndKeep(): Promise<Ready> {
      const client = await connection.client();
      const request = signed(client, operation, payload);
      const sent = digestFields(payload as object);
      const open = { request: keptForm(request), operation: operation.name, sent, found: by, searches: 0 };
      await journal.keepRequest(step, open);
      return { client, request };
    }

    return {
      async leaves() {
        ready ??= await signAndKeep();
        const { client, request } = ready;
        return () => client.send(operation, request);
      },
      refused: () => journal.dropRequest(step),
    };
  }

  /**
   * Settles an open creation with a search, or leaves it to a person.
   * @returns undefined if it was not found, and a person has decided that it is then created again
   */
  async function lookFor(
    step: string,
    operation: Operation,
    by: FoundBy | undefined,
    request: OpenRequest,
    log: SendLog,
  ): Promise<Created | undefined> {
    const wanted = wantedBy(operation, by);
    if (!wanted) {
      if (request.again) return undefined;
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
      if (isLast && clock() < lookFrom + LONGEST_WAIT_MS) await turns.ensureWorks(operation);
      const lookAt = lookFrom + (looks[open.searches] ?? looks[0]);
      await pauses.until(
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
      if (isLast && open.again) return undefined;
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
  ): Promise<Created | undefined> {
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
