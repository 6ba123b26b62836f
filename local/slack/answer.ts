import type { Failure } from './failures.ts';

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export function json(status: number, body: unknown): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(body),
  };
}

export function text(status: number, body: string): Answer {
  return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, body };
}

/**
 * Does the work, unless a failure is set for the call.
 *
 * @param refuse makes the answer for an error
 * @returns undefined if the connection must be cut
 */
export function underFailure(
  failure: Failure | undefined,
  work: () => Answer,
  refuse: (error: string) => Answer,
): Answer | undefined {
  switch (failure?.kind) {
    case undefined:
      return work();
    case 'error':
      return refuse(failure.error);
    case 'rate-limited': {
      const answer = json(429, { ok: false, error: 'ratelimited' });
      return { ...answer, headers: { ...answer.headers, 'retry-after': String(failure.retryAfterSeconds ?? 30) } };
    }
    case 'server-error':
      if (failure.when === 'after work') work();
      return text(503, 'upstream connect error or disconnect/reset before headers');
    case 'cut':
      if (failure.when === 'after work') work();
      return undefined;
  }
}
