import type * as z from 'zod';
import { decisions } from '../../decide.ts';
import { digestFields } from '../../digest.ts';
import type { PartnerClient } from '../../service/partner/client.ts';
import { PartnerError } from '../../service/partner/errors.ts';
import type { Operation } from '../../service/partner/operation.ts';
import { kept as keptForm, type SignedRequest } from '../../service/partner/signed-request.ts';
import { NeedsOperator, RetryAt } from '../record/interruption.ts';
import type { FoundBy, OpenRequest } from '../record/journal.ts';
import { mayExist } from '../record/sends.ts';
import type { Creating } from './job-steps.ts';
import type { Clearance, RequestMark } from './partner-calls.ts';
import { createSearches, foundBy, type SearchesOptions } from './searches.ts';

/**
 * Shorter than the five minutes in which a service with a correct clock accepts the timestamp
 * (docs/exactly-once.md#how).
 */
const RESEND_WINDOW_MS = 4 * 60_000;
/** The pause before the next send equals the time since signing, within these limits. */
const RESEND_PAUSE_MS = { shortest: 250, longest: 10_000 };

/** A signed request, and the client that sends it. */
interface Ready {
  client: PartnerClient;
  request: SignedRequest;
}

/** Calls creating operations, each at most once per step; see lib/decide.ts. */
export function createCreations(options: SearchesOptions): Creating {
  const { connection, journal, clock } = options;
  const { pauses, take, takeAgain, send, failed, act } = options.calls;
  const { lookFor, createdBefore } = createSearches(options);

  const callCreating: Creating = async (step, operation, payload, identity, log) => {
    const by = foundBy(operation, payload, identity?.marker);
    let isUnanswered = journal.openRequest(step) !== undefined;
    if (!isUnanswered) {
      const created = await createdBefore(operation, by, identity, log);
      if (created) return created;
    }
    let signAgainWith: Clearance | undefined;
    for (;;) {
      const open = journal.openRequest(step);
      if (open && isPastResending(open, clock())) {
        const found = await lookFor(step, operation, open.found ?? by, open, log);
        if (found) return found;
        // The search returns nothing only if a person decided that the creation was not carried out.
        await journal.dropRequest(step);
        return callCreating(step, operation, payload, identity, log);
      }
      const kept = open && (await sameBytes(open));
      if (open && !kept) {
        await journal.keepRequest(step, { ...open, lookFrom: clock() });
        continue;
      }
      const clearance: Clearance = signAgainWith
        ? await takeAgain(signAgainWith)
        : await take(operation, open !== undefined);
      const as = isUnanswered ? { sameBytes: true as const } : {};
      const mark = markOf(step, operation, payload, { by, thing: identity?.thing }, kept);
      const sent = await send(clearance, mark, { wasOpen: isUnanswered, log, as });
      // `send` may have kept a request in the journal since `open` was read.
      const sentNow = journal.openRequest(step);
      if (sent.became === 'accepted') {
        if (isUnanswered) log.tell();
        if (isUnanswered) log.settle('the service accepted the same bytes when they were sent again');
        return { id: idOf(operation, sent.result.data), sent: sentNow?.sent ?? {}, thing: sentNow?.thing };
      }
      const { failure } = sent;
      const decision = decisions[failure.outcome][isUnanswered ? 'creating, unanswered' : 'creating'];
      if (sentNow && decision === 'look for it') {
        log.tell();
        await journal.keepRequest(step, { ...sentNow, lookFrom: clock() });
        await failed(clearance, failure);
      } else if (sentNow && decision === 'same bytes') {
        isUnanswered = true;
        signAgainWith = undefined;
        log.tell();
        await failed(clearance, failure);
        if (failure.outcome === 'rate limited') await act('wait for budget', failure, true);
        const { shortest, longest } = RESEND_PAUSE_MS;
        const pause = Math.min(Math.max(clock() - sentNow.request.signedAt, shortest), longest);
        const why = `${operation.name}: ${mayExist(log.sends()?.newest ?? [], sentNow.request.signedAt)}. The relay sends the same request again`;
        await pauses.until(clock() + pause, why, 'answer');
      } else if (decision === 'sign again' && !signAgainWith) {
        signAgainWith = clearance;
      } else {
        await failed(clearance, failure);
        await act(decision, failure, false);
      }
    }
  };

  /**
   * Restores an open request. @returns undefined if the key was replaced, because a new key cannot repeat those bytes
   */
  async function sameBytes(open: OpenRequest): Promise<Ready | undefined> {
    const client = await connection.client();
    const request = client.restore(open.request);
    return request && { client, request };
  }

  /**
   * Returns the mark of one send.
   * @param kept the request from the journal; without it, the mark signs and keeps a new one
   */
  function markOf<P extends z.ZodType, D extends z.ZodType>(
    step: string,
    operation: Operation<P, D>,
    payload: z.input<P>,
    { by, thing }: { by: FoundBy | undefined; thing: OpenRequest['thing'] },
    kept: Ready | undefined,
  ): RequestMark<D> {
    let ready = kept;

    async function signAndKeep(): Promise<Ready> {
      const client = await connection.client();
      const request = signed(client, operation, payload);
      const sent = digestFields(payload as object);
      const open = { request: keptForm(request), operation: operation.name, sent, found: by, thing, searches: 0 };
      await journal.keepRequest(step, open);
      return { client, request };
    }

    return {
      async write() {
        // This worker may have stalled since it checked that the request can still be sent again.
        if (kept && isTooOld(kept.request, clock())) {
          throw new RetryAt(clock(), `the request of ${operation.name} is too old to be sent again`, {
            waitsFor: 'answer',
          });
        }
        ready ??= await signAndKeep();
        const { client, request } = ready;
        return () => client.send(operation, request);
      },
      erase: () => journal.dropRequest(step),
    };
  }

  return callCreating;
}

/** True if sending the same bytes again could no longer show the outcome of the first send. */
function isPastResending({ lookFrom, request }: OpenRequest, now: number): boolean {
  return lookFrom !== undefined || isTooOld(request, now);
}

const isTooOld = ({ signedAt }: Pick<SignedRequest, 'signedAt'>, now: number) => now >= signedAt + RESEND_WINDOW_MS;

/** Returns the id of the created object, or the operation's name if the operation creates nothing with an id. */
function idOf(operation: Operation, data: unknown): string | number {
  if (operation.effect === 'unknown') return operation.name;
  const id = (data as Record<string, unknown>)[operation.createdId ?? ''];
  if (typeof id === 'string' || typeof id === 'number') return id;
  throw new NeedsOperator(
    `${operation.name} succeeded, but its answer has no ${operation.createdId}; it exists in the service now`,
  );
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
