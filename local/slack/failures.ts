import type { MethodName } from './methods.ts';

/** Whether Slack has done its work before the failure, or not. */
export type When = 'before work' | 'after work';

export type Failure = {
  /** `response_url` for posts to any of them. */
  method: MethodName | 'response_url';
  /** How many calls it befalls; by default one. */
  times?: number;
} & (
  | { kind: 'error'; error: string }
  | { kind: 'rate-limited'; retryAfterSeconds?: number }
  | { kind: 'server-error'; when?: When }
  /** The connection is cut without an answer. */
  | { kind: 'cut'; when?: When }
);

export interface Failures {
  add(failure: Failure): void;
  /** The failure that befalls this call. */
  take(method: string): Failure | undefined;
}

/** Failures on demand, one a call, in the order in which they were asked for. */
export function createFailures(): Failures {
  const waiting: { failure: Failure; left: number }[] = [];
  return {
    add(failure) {
      waiting.push({ failure, left: failure.times ?? 1 });
    },
    take(method) {
      const due = waiting.find(({ failure, left }) => failure.method === method && left > 0);
      if (!due) return undefined;
      due.left -= 1;
      return due.failure;
    },
  };
}
