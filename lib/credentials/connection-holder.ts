import type { Budget } from '../budget/budget.ts';
import type { Breakers } from '../connection/breakers.ts';
import type { Connection } from '../connection/connection.ts';
import { InLine, Refused, RetryAt, StepFailed } from '../jobs/interruption.ts';
import { createRepeatableCalls } from '../jobs/repeatable-calls.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { BaseUrlError } from '../partner/base-url.ts';
import { validate } from '../partner/validate.ts';
import { SecretError } from '../secrets/secrets.ts';
import type { CredentialHolder } from './credential-check.ts';
import { compareEcho, OtherEcho } from './echo.ts';

export interface ConnectionHolderOptions {
  budget: Budget;
  breakers: Breakers;
  metrics: Metrics;
  clock: () => number;
  sleep: (ms: number) => Promise<void>;
}

/** Checks a connection with the service's `/validate`. */
export function createConnectionHolder(connection: Connection, options: ConnectionHolderOptions): CredentialHolder {
  const { budget, breakers, metrics, clock, sleep } = options;
  const { name } = connection;

  async function callValidate(deadline: number): Promise<string> {
    const { call } = createRepeatableCalls({
      ...{ connection, budget, breakers, clock, sleep, deadline },
      caller: 'credential-check',
      lane: 'background',
      cameBack: false,
      report({ news }) {
        // This check has its own metric for a refused key, which lasts until the next check.
        if (news === 'rate limited') metrics.record({ RateLimited: 1 }, name);
      },
    });
    return compareEcho((payload) => call(connection.operation(validate), payload));
  }

  return {
    name: `partner/${name}`,
    metric: 'ConnectionCredentialsFail',
    connection: name,
    async look(deadline) {
      try {
        return { verdict: 'good', why: await callValidate(deadline) };
      } catch (error) {
        if (error instanceof StepFailed) return { verdict: 'unanswered', why: error.message };
        if (error instanceof RetryAt || error instanceof InLine) {
          const down = await breakers.view(name);
          return down
            ? {
                verdict: 'bad',
                why: `it has been down since ${new Date(down.since).toISOString()}: ${down.why}`,
              }
            : { verdict: 'unknown', why: error.message };
        }
        const isBad = [Refused, SecretError, BaseUrlError, OtherEcho].some((kind) => error instanceof kind);
        if (isBad && error instanceof Error) return { verdict: 'bad', why: error.message };
        throw error;
      }
    },
  };
}
