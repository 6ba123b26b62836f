import type { MetricName, Metrics } from '../metrics/metrics.ts';
import type { Secrets } from '../secrets/secrets.ts';

/**
 * What a look at somebody's credentials brought.
 * - `good`: they can be used
 * - `bad`: they cannot, and every event that needs them will fail or wait
 * - `skipped`: there are none, which is how it is meant to be
 * - `unknown`: it was not the time to look
 */
export type Verdict = 'good' | 'bad' | 'skipped' | 'unknown';

/** What one try brought; `unanswered` may be bad luck, so that there is a second. */
export interface Finding {
  verdict: Verdict | 'unanswered';
  /** In words, without anything secret. */
  why: string;
}

/** Somebody whom the relay has credentials of. */
export interface CredentialHolder {
  /** The name of its secret: `partner/main`, `github`, `slack`. */
  name: string;
  /** What is 1 while they cannot be used, and of which connection. */
  metric: MetricName;
  connection?: string;
  /**
   * @param deadline by then it must have come back; epoch milliseconds
   * @throws only where nobody foresaw what happened
   */
  look(deadline: number): Promise<Finding>;
}

/** What became of the check of one holder. */
export interface CheckedHolder {
  holder: string;
  verdict: Verdict;
  why: string;
}

export interface CredentialCheckOptions {
  secrets: Secrets;
  sleep: (ms: number) => Promise<void>;
  log: Pick<Console, 'info' | 'warn' | 'error'>;
  metrics: Metrics;
}

const AGAIN_AFTER_MS = 5_000;

/**
 * Looks at the credentials of every holder, one holder whatever becomes of another, and says in log and metrics which
 * cannot be used and why. A holder that is not looked at keeps the metric that it had.
 *
 * @param deadline when the caller will be stopped, in epoch milliseconds
 * @throws {AggregateError} of what nobody foresaw, once all the others are told
 */
export async function checkCredentials(
  holders: readonly CredentialHolder[],
  deadline: number,
  options: CredentialCheckOptions,
): Promise<CheckedHolder[]> {
  const { log, metrics } = options;
  const looks = await Promise.allSettled(holders.map((holder) => lookTwice(holder, deadline, options)));
  const checked: CheckedHolder[] = [];
  const errors: unknown[] = [];
  for (const [index, holder] of holders.entries()) {
    const look = looks[index];
    if (look?.status !== 'fulfilled') {
      log.error({ message: 'credentials could not be checked', holder: holder.name, error: String(look?.reason) });
      errors.push(look?.reason);
      continue;
    }
    const { verdict, why } = look.value;
    const level = ({ good: 'info', skipped: 'info', unknown: 'warn', bad: 'error' } as const)[verdict];
    log[level]({ message: `credentials ${verdict}`, holder: holder.name, why });
    if (verdict !== 'unknown') metrics.record({ [holder.metric]: verdict === 'bad' ? 1 : 0 }, holder.connection);
    checked.push({ holder: holder.name, verdict, why });
  }
  if (errors.length > 0)
    throw new AggregateError(errors, `${errors.length} of ${holders.length} holders were not checked`);
  return checked;
}

async function lookTwice(
  holder: CredentialHolder,
  deadline: number,
  { secrets, sleep }: CredentialCheckOptions,
): Promise<{ verdict: Verdict; why: string }> {
  // A key that was rotated since this process read it is not one that fails.
  secrets.refresh(holder.name);
  const first = await holder.look(deadline);
  if (first.verdict !== 'unanswered') return { verdict: first.verdict, why: first.why };
  await sleep(AGAIN_AFTER_MS);
  const { verdict, why } = await holder.look(deadline);
  return { verdict: verdict === 'unanswered' ? 'bad' : verdict, why };
}
