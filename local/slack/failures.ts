import { type Answer, json, text } from './answer.ts';
import type { MethodName } from './web-api.ts';

/** Whether the failure happens before or after Slack does the work. */
type When = 'before work' | 'after work';

export type Failure = {
  /** `response_url` stands for posts to any response URL. */
  method: MethodName | 'response_url';
  /** How many calls fail. Default: 1. */
  times?: number;
} & (
  | { kind: 'error'; error: string }
  | { kind: 'rate-limited'; retryAfterSeconds?: number }
  | { kind: 'server-error'; when?: When }
  /** Cuts the connection without an answer. */
  | { kind: 'cut'; when?: When }
  /** Does the work, and answers with nothing else. */
  | { kind: 'empty'; when?: When }
);

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
    case 'empty':
      work();
      return json(200, { ok: true });
  }
}
