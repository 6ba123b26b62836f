import type { MetricName, Metrics } from '../state/metrics/metrics.ts';
import type { Secrets } from '../state/secrets/secrets.ts';

/**
 * The result of checking one holder's credentials.
 * - `good`: they work
 * - `bad`: they do not work, and every event that needs them will fail or wait
 * - `skipped`: none are configured
 * - `unknown`: they could not be checked now
 */
export type Verdict = 'good' | 'bad' | 'skipped' | 'unknown';

/** The result of one try. `unanswered` may be a temporary failure, so there is a second try. */
export interface CheckResult {
  verdict: Verdict | 'unanswered';
  /** An explanation without secrets. */
  why: string;
}

/** A system for which the relay has credentials. */
export interface CredentialHolder {
  /** The name of its secret: `partner/main`, `github`, `slack`. */
  name: string;
  /** The metric that is 1 while the credentials do not work, and its connection. */
  metric: MetricName;
  connection?: string;
  /**
   * @param deadline when the check must have returned; epoch milliseconds
   * @throws only for unexpected errors
   */
  look(deadline: number): Promise<CheckResult>;
}

/** The result of checking one holder. */
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
 * Checks the credentials of every holder independently, and reports in log and metrics which do not work and why. A
 * holder that is not checked keeps its last metric.
 *
 * @param deadline when the caller will be stopped, in epoch milliseconds
 * @throws {AggregateError} with the unexpected errors, after all other results are reported
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
  // The key may have been rotated since this process read it, so the secret is read again first.
  secrets.refresh(holder.name);
  const first = await holder.look(deadline);
  if (first.verdict !== 'unanswered') return { verdict: first.verdict, why: first.why };
  await sleep(AGAIN_AFTER_MS);
  const { verdict, why } = await holder.look(deadline);
  return { verdict: verdict === 'unanswered' ? 'bad' : verdict, why };
}
