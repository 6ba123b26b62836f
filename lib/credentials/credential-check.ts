import { tellNewTroubles } from '../engine/operate/new-troubles.ts';
import type { Runtime, Stores } from '../runtime.ts';
import type { MetricName } from '../state/metrics/metrics.ts';

/**
 * The result of checking one credential.
 * - `good`: it works
 * - `bad`: it does not work, and every event that needs it will fail or wait
 * - `skipped`: none is configured
 * - `unknown`: it could not be checked now
 */
export type CredentialVerdict = 'good' | 'bad' | 'skipped' | 'unknown';

/** The result of one try. `unanswered` may be a temporary failure, so there is a second try. */
export interface CheckResult {
  verdict: CredentialVerdict | 'unanswered';
  /** An explanation without secrets. */
  why: string;
}

/** The credentials for one system, as their secret holds them. */
export interface Credential {
  /** The name of its secret: `partner/main`, `github`, `slack`. */
  name: string;
  /** The metric that counts the credentials of this kind that do not work. */
  metric: MetricName;
  /**
   * @param deadline when the check must have returned; epoch milliseconds
   * @throws only for unexpected errors
   */
  check(deadline: number): Promise<CheckResult>;
}

/** The result of checking one credential. */
export interface CheckedCredential {
  secret: string;
  verdict: CredentialVerdict;
  why: string;
}

interface CredentialCheckOptions
  extends Pick<Runtime, 'sleep' | 'log' | 'metrics'>,
    Pick<Stores, 'secrets' | 'table'> {}

const AGAIN_AFTER_MS = 5_000;

/**
 * Checks every credential independently, and reports in log and metrics which do not work and why. All connections have
 * one metric: while one of them could not be checked, it is not recorded that all of them work.
 *
 * @param deadline when the caller will be stopped, in epoch milliseconds
 * @throws {AggregateError} with the unexpected errors, after all other results are reported
 */
export async function checkCredentials(
  credentials: readonly Credential[],
  deadline: number,
  options: CredentialCheckOptions,
): Promise<CheckedCredential[]> {
  const { log, metrics } = options;
  const results = await Promise.allSettled(credentials.map((credential) => checkTwice(credential, deadline, options)));
  const checked: CheckedCredential[] = [];
  const errors: unknown[] = [];
  for (const [index, credential] of credentials.entries()) {
    const result = results[index];
    if (result?.status !== 'fulfilled') {
      log.error({
        message: 'credentials could not be checked',
        secret: credential.name,
        error: String(result?.reason),
      });
      errors.push(result?.reason);
      continue;
    }
    const { verdict, why } = result.value;
    const level = ({ good: 'info', skipped: 'info', unknown: 'warn', bad: 'error' } as const)[verdict];
    log[level]({ message: `credentials ${verdict}`, secret: credential.name, why });
    checked.push({ secret: credential.name, verdict, why });
  }
  const verdictOf = ({ name }: Credential) => checked.find(({ secret }) => secret === name)?.verdict ?? 'unknown';
  for (const [metric, same] of Map.groupBy(credentials, ({ metric }) => metric)) {
    const failing = same.filter((credential) => verdictOf(credential) === 'bad').length;
    if (failing > 0 || same.every((credential) => verdictOf(credential) !== 'unknown'))
      metrics.record({ [metric]: failing });
  }
  const failing = checked
    .filter(({ secret, verdict }) => verdict === 'bad' && secret.startsWith('partner/'))
    .map(({ secret, why }) => ({ name: secret, lastsMs: 0, metric: 'NewlyInvalid' as const, about: { secret, why } }));
  await tellNewTroubles('credentials', failing, options);
  if (errors.length > 0)
    throw new AggregateError(errors, `${errors.length} of ${credentials.length} credentials were not checked`);
  return checked;
}

async function checkTwice(
  credential: Credential,
  deadline: number,
  { secrets, sleep }: CredentialCheckOptions,
): Promise<{ verdict: CredentialVerdict; why: string }> {
  // The key may have been rotated since this process read it, so the secret is read again first.
  secrets.refresh(credential.name);
  const first = await credential.check(deadline);
  if (first.verdict !== 'unanswered') return { verdict: first.verdict, why: first.why };
  await sleep(AGAIN_AFTER_MS);
  const { verdict, why } = await credential.check(deadline);
  return { verdict: verdict === 'unanswered' ? 'bad' : verdict, why };
}
