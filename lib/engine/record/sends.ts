import type { SendOutcome } from '../../decide.ts';
import {
  isWrongAddress,
  PartnerError,
  PartnerPayloadError,
  PartnerRefusal,
  PartnerUnanswered,
} from '../../service/partner/errors.ts';
import { cutToLength } from '../../text.ts';
import { type Newest, withEntry } from './history.ts';

/** One send of a step's request, without payload and signature. Times are epoch milliseconds. */
export interface Send {
  /** The call, if it is not the step's own: the list that the relay searches for a lost creation. */
  calls?: string;
  /** When the step asked the budget for a slot. */
  askedAt: number;
  /** When the slot opened. Before that, the send waited for the budget. */
  grantedAt: number;
  sentAt: number;
  /** When the answer came, or the relay stopped waiting for one. */
  endedAt: number;
  came: 'accepted' | SendOutcome;
  /** The HTTP status, if there was an answer. */
  status?: number;
  /** The error in words, if the service did not accept the request. */
  why?: string;
  /** The send repeats the signed bytes of an earlier send of the step. */
  sameBytes?: true;
}

const MOST_SENDS = 20;
const LONGEST_WHY = 200;

/** The sends of a step, in this run and in earlier ones. */
export type SendLog = ReturnType<typeof createSendLog>;

/**
 * @param before the sends of earlier runs of the step
 * @param report gets the sends that the end of the step does not explain
 */
export function createSendLog(before: Newest<Send> | undefined, report: (send: Send) => void) {
  let sends = before;
  let settledBy: string | undefined;
  let untold: Send | undefined;
  return {
    sends: () => sends,
    add(send: Send): void {
      sends = withEntry(sends, send, MOST_SENDS);
      untold = send;
    },
    /** Reports the last send, because the end of the step will not explain it. */
    tell(): void {
      if (untold) report(untold);
      untold = undefined;
    },
    /** Notes how the relay settled the outcome of a creation whose answer was lost. */
    settle(by: string): void {
      settledBy = by;
    },
    settledBy: () => settledBy,
  };
}

/** Returns the part of a {@link Send} that its result determines. */
export function howItEnded(error: unknown): Pick<Send, 'came' | 'status' | 'why'> | undefined {
  if (!(error instanceof PartnerError)) return undefined;
  const { operation, status, message } = error;
  return {
    came: outcomeOf(error),
    ...(status !== null && { status }),
    why: cutToLength(message.replace(`${operation}: `, ''), LONGEST_WHY, '…'),
  };
}

/** Says why an open creation may exist, from the newest send since its signing without a clear answer. */
export function mayExist(sends: readonly Send[], signedAt: number): string {
  const own = sends.filter(({ calls, sentAt }) => calls === undefined && sentAt >= signedAt);
  const { status, came } = own.findLast(({ came }) => UNCLEAR.has(came)) ?? {};
  const gave = came === 'unreadable' ? `gave an unreadable answer (${status})` : `answered ${status}`;
  const answer = status === undefined ? undefined : `the service ${gave}`;
  if (own.some(({ came }) => came === 'nonce already used'))
    return `the request arrived, but ${answer ?? 'its answer was lost'}`;
  return `${answer ?? 'the service did not answer'}, and may have done the work`;
}

const UNCLEAR: ReadonlySet<Send['came']> = new Set(['no answer', 'server error', 'unreadable', 'contradictory']);

/** A gateway in front of the service gave up waiting for the request or for the service (RFC 9110, section 15.5.9). */
const TIMED_OUT = 408;

/** Returns the outcome that an error of the partner API stands for. */
export function outcomeOf(error: PartnerError): SendOutcome {
  if (error instanceof PartnerUnanswered) return error.sent ? 'no answer' : 'not sent';
  if (error instanceof PartnerPayloadError) return 'invalid';
  // First, because a gateway in front of the service may answer with its own page.
  if (error.status === 429) return 'rate limited';
  if (!(error instanceof PartnerRefusal)) return 'unreadable';
  if (error.status < 300) return 'contradictory';
  if (error.status >= 500 || error.status === TIMED_OUT) return 'server error';
  if (error.status === 404) return isWrongAddress(error) ? 'unreadable' : 'not found';
  if (error.status === 403) return 'forbidden';
  if (error.status !== 401) return 'invalid';
  return error.reason === null || error.reason === 'unknown' ? 'unauthorized' : error.reason;
}
