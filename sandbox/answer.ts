import type { Disturbance } from './faults.ts';
import type { Refusal } from './refusal.ts';
import { type Route, toTheirs } from './routes.ts';

export interface Answer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** For the audit trail; null when the operation was carried out. */
  reason: string | null;
}

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

/** What a fault makes of an answer; null for a cut connection. */
export function disturbed(fault: Disturbance, answer: Answer): Answer | null {
  const reason = `fault: ${fault.kind}`;
  const page = { 'content-type': 'text/html; charset=utf-8' };
  switch (fault.kind) {
    case 'latency':
      return answer;
    case 'cut':
      return null;
    case 'server-error':
      return jsonAnswer(500, { success: false, message: 'Server Error', data: null }, reason);
    case 'rate-limited': {
      const limited = jsonAnswer(429, { success: false, message: 'Rate limit exceeded', data: null }, reason);
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
  }
}

function retryAfter(seconds: number | undefined): Record<string, string> {
  return seconds === undefined ? {} : { 'retry-after': String(seconds) };
}
