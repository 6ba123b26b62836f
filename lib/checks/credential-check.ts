import { tellNewTroubles } from '../engine/operate/new-troubles.ts';
import { SlackRefusal } from '../platforms/slack/slack-api.ts';
import type { Runtime, Stores } from '../runtime.ts';
import { BaseUrlError } from '../service/partner/base-url.ts';
import type { MetricName } from '../state/metrics/metrics.ts';
import { SecretError } from '../state/secrets/secrets.ts';
import { CannotTell, type Check, NothingThere, Unanswered, Wrong } from './check.ts';

/** The credentials for one system, as their secret contains them. */
export interface Credential extends Check {
  /** `partner/main`, `github` or `slack`. */
  secret: string;
  /** The metric that counts credentials of this kind that do not work. */
  metric: MetricName;
}

/**
 * The result of checking one credential.
 * - `good`: it works
 * - `bad`: it does not work, and every event that needs it will fail or wait
 * - `skipped`: it is not configured
 * - `unknown`: it could not be checked now
 */
export interface CheckedCredential {
  secret: string;
  verdict: 'good' | 'bad' | 'skipped' | 'unknown';
  /** An explanation without secrets. */
  why: string;
}

interface CredentialCheckOptions
  extends Pick<Runtime, 'sleep' | 'log' | 'metrics'>,
    Pick<Stores, 'secrets' | 'table'> {}

const AGAIN_AFTER_MS = 5_000;
const LEVELS = { good: 'info', skipped: 'info', unknown: 'warn', bad: 'error' } as const;

/**
 * Checks every credential independently, and reports in log and metrics the ones that do not work, with the reason. All
 * connections share one metric. It does not record that all of them work while one could not be checked.
 *
 * @throws {AggregateError} with the unexpected errors, after all other results are reported
 */
export async function checkCredentials(
  credentials: readonly Credential[],
  options: CredentialCheckOptions,
): Promise<CheckedCredential[]> {
  const { log, metrics } = options;
  const results = await Promise.allSettled(credentials.map((credential) => checkTwice(credential, options)));
  const checked: CheckedCredential[] = [];
  const errors: unknown[] = [];
  for (const [index, { secret }] of credentials.entries()) {
    const result = results[index];
    if (result?.status === 'fulfilled') {
      const { verdict, why } = result.value;
      log[LEVELS[verdict]]({ message: `credentials ${verdict}`, secret, why });
      checked.push(result.value);
    } else {
      log.error({ message: 'credentials could not be checked', secret, error: String(result?.reason) });
      errors.push(result?.reason);
    }
  }
  const verdicts = new Map(checked.map(({ secret, verdict }) => [secret, verdict]));
  for (const [metric, same] of Map.groupBy(credentials, ({ metric }) => metric)) {
    const found = same.map(({ secret }) => verdicts.get(secret) ?? 'unknown');
    const failing = found.filter((verdict) => verdict === 'bad').length;
    if (failing > 0 || !found.includes('unknown')) metrics.record({ [metric]: failing });
  }
  const failing = checked
    .filter(({ secret, verdict }) => verdict === 'bad' && secret.startsWith('partner/'))
    .map(({ secret, why }) => ({
      name: secret,
      lastsMs: 0,
      metric: 'NewlyInvalid' as const,
      about: { secret, what: why },
    }));
  await tellNewTroubles('credentials', failing, options);
  if (errors.length > 0)
    throw new AggregateError(errors, `${errors.length} of ${credentials.length} credentials were not checked`);
  return checked;
}

async function checkTwice(
  { secret, look }: Credential,
  { secrets, sleep }: CredentialCheckOptions,
): Promise<CheckedCredential> {
  for (let isLast = false; ; isLast = true) {
    // Reads the secret again first, because the key may have been rotated since this process read it.
    secrets.refresh(secret);
    try {
      return { secret, verdict: 'good', why: await look() };
    } catch (error) {
      if (!(error instanceof Unanswered) || isLast) return { secret, ...found(error) };
      await sleep(AGAIN_AFTER_MS);
    }
  }
}

/** Returns what an error says about the credentials. @throws an error that says nothing about them */
function found(error: unknown): Omit<CheckedCredential, 'secret'> {
  const isBad = [Wrong, Unanswered, SecretError, BaseUrlError, SlackRefusal].some((kind) => error instanceof kind);
  if (!(error instanceof Error) || !(isBad || error instanceof CannotTell)) throw error;
  const otherwise = error instanceof NothingThere ? 'skipped' : 'unknown';
  return { verdict: isBad ? 'bad' : otherwise, why: error.message };
}
