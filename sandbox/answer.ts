import { type Disturbance, disturbanceAt, type Fault, type When } from './faults.ts';
import type { Refusal } from './refusal.ts';
import { type Route, toTheirs } from './routes.ts';

export interface Answer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** For the audit trail; null if the operation was carried out. */
  reason: string | null;
}

export function jsonAnswer(status: number, value: object, reason: string | null = null): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value), reason };
}

/**
 * docs/partner-api.md#envelope does not show the fields of an error body. Assumed: the envelope with `data` null, and
 * `errors` by field.
 */
export function refusalAnswer({ status, message, errors, retryAfterSeconds }: Refusal, route?: Route): Answer {
  const named = route && errors ? toTheirs(route, errors) : errors;
  const answer = jsonAnswer(status, { success: false, message, data: null, errors: named }, message);
  return { ...answer, headers: { ...answer.headers, ...retryAfter(retryAfterSeconds) } };
}

/** An error answer in the form of its endpoint. */
export type ErrorAnswer = (status: 413 | 429 | 500, message: string, reason: string) => Answer;

const partnerError: ErrorAnswer = (status, message, reason) =>
  jsonAnswer(status, { success: false, message, data: null }, reason);

/** Applies the faults of a stage to an answer; null for a cut connection. */
export function disturbed(
  faults: readonly Fault[],
  when: When,
  answer: Answer,
  errorAnswer: ErrorAnswer = partnerError,
): Answer | null {
  const fault = disturbanceAt(faults, when);
  return fault === undefined ? answer : disturbedBy(fault, answer, errorAnswer);
}

function disturbedBy(fault: Disturbance, answer: Answer, errorAnswer: ErrorAnswer): Answer | null {
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
    case 'maintenance': {
      const body = '<!doctype html><h1>Down for maintenance</h1>';
      return { status: fault.status ?? 503, headers: page, body, reason };
    }
    case 'login-redirect':
      return { status: 302, headers: { ...page, location: '/login' }, body: '<!doctype html>', reason };
    case 'empty-body':
      return { ...answer, body: '', reason };
    case 'not-json':
      return { ...answer, body: '{"success":true,"data":', reason };
  }
}

function retryAfter(seconds: number | undefined): Record<string, string> {
  return seconds === undefined ? {} : { 'retry-after': String(seconds) };
}
