import { type Answer, json, text } from '../local/slack/answer.ts';
import { type SlackStandIn, type SlackStandInOptions, startSlackStandIn } from '../local/slack/stand-in.ts';
import type { MethodName } from '../local/slack/web-api.ts';

/** Whether the failure happens before or after Slack did the work. */
type When = 'before work' | 'after work';

export type Failure = {
  /** `response_url` means posts to any response URL. */
  method: MethodName | 'response_url';
  /** How many calls fail. Default: 1. */
  times?: number;
} & (
  | { kind: 'error'; error: string }
  | { kind: 'rate-limited'; retryAfterSeconds?: number }
  | { kind: 'server-error'; when?: When }
  /** The connection is cut without an answer. */
  | { kind: 'cut'; when?: When }
  /** The work is done, and the answer says no more than that. */
  | { kind: 'empty'; when?: When }
);

export interface SlackThatFails extends SlackStandIn {
  /** Every received call, including failed ones. Posts to response URLs have the method `response_url`. */
  calls: { method: string; at: number }[];
  /** Makes the next calls of a method fail. Several failures follow one another. */
  fail(failure: Failure): void;
}

/** The stand-in, with failures on demand. */
export async function startSlackThatFails(options: SlackStandInOptions): Promise<SlackThatFails> {
  const calls: SlackThatFails['calls'] = [];
  const waiting: { failure: Failure; left: number }[] = [];
  const standIn = await startSlackStandIn({
    ...options,
    between(method, work, refuse) {
      calls.push({ method, at: options.clock() });
      const due = waiting.find(({ failure, left }) => failure.method === method && left > 0);
      if (due) due.left -= 1;
      return underFailure(due?.failure, work, refuse);
    },
  });
  return { ...standIn, calls, fail: (failure) => void waiting.push({ failure, left: failure.times ?? 1 }) };
}

/**
 * Does the work, unless a failure is set for the call.
 *
 * @param refuse makes the answer for an error
 * @returns undefined if the connection must be cut
 */
function underFailure(
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
