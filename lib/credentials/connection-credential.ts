import { InLine, Refused, RetryAt, StepFailed } from '../engine/record/interruption.ts';
import { type CallingRun, createPartnerCalls } from '../engine/run/partner-calls.ts';
import type { Runtime } from '../runtime.ts';
import type { Budget } from '../service/budget/budget.ts';
import type { Connection } from '../service/connection/connection.ts';
import { BaseUrlError } from '../service/partner/base-url.ts';
import { validate } from '../service/partner/validate.ts';
import { SecretError } from '../state/secrets/secrets.ts';
import type { Credential } from './credential-check.ts';
import { compareEcho, OtherEcho } from './echo.ts';

/** The check neither obeys breakers nor changes them: whoever opens or closes one calls the jobs that wait. */
const none: CallingRun['breakers'] = {
  stopOf: async () => undefined,
  claimProbe: async () => false,
  failed: async () => [],
  toldNothing: async () => {},
  worked: async () => {},
  limited: async () => 0,
};

/** Checks a connection with the service's `/validate`. */
export function createConnectionCredential(
  connection: Connection,
  options: Pick<Runtime, 'metrics' | 'clock' | 'sleep'> & { budget: Budget },
): Credential {
  const { budget, metrics, clock, sleep } = options;
  const { name } = connection;

  async function callValidate(deadline: number): Promise<string> {
    const { repeatable } = createPartnerCalls({
      connection,
      budget,
      breakers: none,
      clock,
      sleep,
      deadline,
      caller: 'credential-check',
      lane: 'background',
      cameBack: false,
      report({ news }) {
        // This check has its own metric for a refused key, which lasts until the next check.
        if (news === 'rate limited') metrics.record({ RateLimited: 1 }, name);
      },
    });
    return compareEcho((payload) => repeatable(connection.operation(validate), payload));
  }

  return {
    name: `partner/${name}`,
    metric: 'ConnectionCredentialsFail',
    async check(deadline) {
      try {
        return { verdict: 'good', why: await callValidate(deadline) };
      } catch (error) {
        if (error instanceof StepFailed) return { verdict: 'unanswered', why: error.message };
        if (error instanceof RetryAt || error instanceof InLine) return { verdict: 'unknown', why: error.message };
        const isBad = [Refused, SecretError, BaseUrlError, OtherEcho].some((kind) => error instanceof kind);
        if (isBad && error instanceof Error) return { verdict: 'bad', why: error.message };
        throw error;
      }
    },
  };
}
