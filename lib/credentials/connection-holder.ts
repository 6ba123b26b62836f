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

export interface ConnectionHolderOptions {
  budget: Budget;
  breakers: Breakers;
  metrics: Metrics;
  clock: () => number;
  sleep: (ms: number) => Promise<void>;
}

/** The service behind a connection: its `/validate` decrypts what is sent, so that key, encryption and signature are right. */
export function createConnectionHolder(connection: Connection, options: ConnectionHolderOptions): CredentialHolder {
  const { budget, breakers, metrics, clock, sleep } = options;
  const { name } = connection;

  async function callValidate(deadline: number): Promise<void> {
    const { call } = createRepeatableCalls({
      ...{ connection, budget, breakers, clock, sleep, deadline },
      caller: 'credential-check',
      lane: 'background',
      cameBack: false,
      report({ news }) {
        // A refused key has a metric of this check's own, which lasts until the next check.
        if (news === 'rate limited') metrics.record({ RateLimited: 1 }, name);
      },
    });
    await call(connection.operation(validate), { relay: 'credential-check' });
  }

  return {
    name: `partner/${name}`,
    metric: 'ConnectionCredentialsFail',
    connection: name,
    async look(deadline) {
      try {
        await callValidate(deadline);
        return { verdict: 'good', why: 'validate decrypted what was sent' };
      } catch (error) {
        if (error instanceof StepFailed) return { verdict: 'unanswered', why: error.message };
        if (error instanceof RetryAt || error instanceof InLine) {
          const down = await breakers.view(name);
          return down
            ? {
                verdict: 'bad',
                why: `it is down since ${new Date(down.since).toISOString()}: ${down.why}`,
              }
            : { verdict: 'unknown', why: error.message };
        }
        if (error instanceof Refused || error instanceof SecretError || error instanceof BaseUrlError) {
          return { verdict: 'bad', why: error.message };
        }
        throw error;
      }
    },
  };
}
