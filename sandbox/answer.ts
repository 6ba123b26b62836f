import type { Disturbance } from './faults.ts';
import type { Refusal } from './refusal.ts';
import { type Route, toTheirs } from './routes.ts';

export interface Answer {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** In pieces, it is streamed. */
  body: string | readonly Piece[];
  /** For the audit trail; null when the operation was carried out. */
  reason: string | null;
}

/** What is sent of a streamed body, and when; `cut` destroys the connection. */
export type Piece = { text: string } | { waitMs: number } | { cut: true };

export function jsonAnswer(status: number, value: object, reason: string | null = null): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value), reason };
}

/**
 * The fields of an error body are not shown (docs/partner-api.md#envelope): the envelope with `data` null, and `errors`
 * by field, are assumed.
 */
export function refusalAnswer({ status, message, errors, retryAfterSeconds }: Refusal, route?: Route): Answer {
  const named = route && errors ? toTheirs(route, errors) : errors;
  const answer = jsonAnswer(status, { success: false, message, data: null, errors: named }, message);
  return { ...answer, headers: { ...answer.headers, ...retryAfter(retryAfterSeconds) } };
}

/** An error answer in the form of its endpoint. */
export type ErrorAnswer = (status: 429 | 500, message: string, reason: string) => Answer;

const partnerError: ErrorAnswer = (status, message, reason) =>
  jsonAnswer(status, { success: false, message, data: null }, reason);

/** What a fault makes of an answer; null for a cut connection. */
export function disturbed(fault: Disturbance, answer: Answer, errorAnswer: ErrorAnswer = partnerError): Answer | null {
  const reason = `fault: ${fault.kind}`;
  const page = { 'content-type': 'text/html; charset=utf-8' };
  switch (fault.kind) {
    case 'latency':
      return answer;
    case 'cut':
      return null;
    case 'server-error':
      return errorAnswer(500, 'Server Error', reason);
    case 'rate-limited': {
      const limited = errorAnswer(429, 'Rate limit exceeded', reason);
      return { ...limited, headers: { ...limited.headers, ...retryAfter(fault.retryAfterSeconds) } };
    }
    case 'maintenance':
      return {
        status: fault.status ?? 503,
        headers: page,
        body: '<!doctype html><h1>Down for maintenance</h1>',
        reason,
      };
    case 'login-redirect':
      return { status: 302, headers: { ...page, location: '/login' }, body: '<!doctype html>', reason };
    case 'empty-body':
      return { ...answer, body: '', reason };
    case 'not-json':
      return { ...answer, body: '{"success":true,"data":', reason };
    case 'stream-cut':
      return { ...answer, body: cutAfter(textsOf(answer), fault.pieces ?? 0), reason };
    case 'stream-slow':
      return { ...answer, body: textsOf(answer).flatMap((text) => inHalves(text, fault.ms)), reason };
  }
}

function textsOf({ body }: Answer): string[] {
  return typeof body === 'string' ? [body] : body.flatMap((piece) => ('text' in piece ? piece.text : []));
}

/** So many whole pieces, and half of the next. */
function cutAfter(texts: readonly string[], pieces: number): Piece[] {
  const next = texts[pieces] ?? '';
  const sent = [...texts.slice(0, pieces), next.slice(0, next.length / 2)];
  return [...sent.map((text) => ({ text })), { cut: true }];
}

function inHalves(text: string, waitMs: number): Piece[] {
  const middle = Math.floor(text.length / 2);
  return [{ text: text.slice(0, middle) }, { waitMs }, { text: text.slice(middle) }];
}

function retryAfter(seconds: number | undefined): Record<string, string> {
  return seconds === undefined ? {} : { 'retry-after': String(seconds) };
}
