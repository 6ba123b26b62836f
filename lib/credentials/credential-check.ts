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
export interface Party {
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

/** What became of the check of one party. */
export interface CheckedParty {
  party: string;
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
 * Looks at the credentials of every party, one party whatever becomes of another, and says in log and metrics which
 * cannot be used and why. A party that is not looked at keeps the metric that it had.
 *
 * @param deadline when the caller will be stopped, in epoch milliseconds
 * @throws {AggregateError} of what nobody foresaw, once all the others are told
 */
export async function checkCredentials(
  parties: readonly Party[],
  deadline: number,
  options: CredentialCheckOptions,
): Promise<CheckedParty[]> {
  const { log, metrics } = options;
  const looks = await Promise.allSettled(parties.map((party) => lookTwice(party, deadline, options)));
  const checked: CheckedParty[] = [];
  const errors: unknown[] = [];
  for (const [index, party] of parties.entries()) {
    const look = looks[index];
    if (look?.status !== 'fulfilled') {
      log.error({ message: 'credentials could not be checked', party: party.name, error: String(look?.reason) });
      errors.push(look?.reason);
      continue;
    }
    const { verdict, why } = look.value;
    const level = ({ good: 'info', skipped: 'info', unknown: 'warn', bad: 'error' } as const)[verdict];
    log[level]({ message: `credentials ${verdict}`, party: party.name, why });
    if (verdict !== 'unknown') metrics.record({ [party.metric]: verdict === 'bad' ? 1 : 0 }, party.connection);
    checked.push({ party: party.name, verdict, why });
  }
  if (errors.length > 0)
    throw new AggregateError(errors, `${errors.length} of ${parties.length} parties were not checked`);
  return checked;
}

async function lookTwice(
  party: Party,
  deadline: number,
  { secrets, sleep }: CredentialCheckOptions,
): Promise<{ verdict: Verdict; why: string }> {
  // A key that was rotated since this process read it is not one that fails.
  secrets.refresh(party.name);
  const first = await party.look(deadline);
  if (first.verdict !== 'unanswered') return { verdict: first.verdict, why: first.why };
  await sleep(AGAIN_AFTER_MS);
  const { verdict, why } = await party.look(deadline);
  return { verdict: verdict === 'unanswered' ? 'bad' : verdict, why };
}
