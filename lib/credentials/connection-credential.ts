import { isDeepStrictEqual } from 'node:util';
import { InLine, Refused, RetryAt, StepFailed } from '../engine/record/interruption.ts';
import { type CallingRun, createPartnerCalls } from '../engine/run/partner-calls.ts';
import type { Runtime } from '../runtime.ts';
import type { Budget } from '../service/budget/budget.ts';
import type { Connection } from '../service/connection/connection.ts';
import { BaseUrlError } from '../service/partner/base-url.ts';
import { validate } from '../service/partner/operation.ts';
import { SecretError } from '../state/secrets/secrets.ts';
import type { Credential } from './credential-check.ts';

/** The check neither obeys breakers nor changes them: opening or closing one calls the jobs that wait. */
const none: CallingRun['breakers'] = {
  stopOf: async () => undefined,
  claimProbe: async () => false,
  failed: async () => [],
  toldNothing: async () => {},
  worked: async () => true,
  hadWorked: async () => {},
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

/** Every JSON type and non-ASCII text, to detect an encryption that changes the payload. */
const ECHO = { relay: 'credentials', text: 'Grüße ✓ "\\/', number: 1.5, none: null, list: [true, { deep: [] }] };

/** The service answers, but not as the partner API does. */
class OtherEcho extends Error {
  override readonly name = 'OtherEcho';
}

/**
 * Has the service decrypt a payload and return it, which proves that key, encryption and signature are right
 * (docs/partner-api.md#operations).
 *
 * @param validate calls the operation of that name
 * @returns what it proves
 * @throws {OtherEcho} if it returns something else, and what `validate` throws
 */
export async function compareEcho(validate: (payload: typeof ECHO) => Promise<{ data: unknown }>): Promise<string> {
  const { data } = await validate(ECHO);
  if (isDeepStrictEqual(data, ECHO)) {
    return 'validate returned the payload unchanged: key, encryption and signature are correct';
  }
  throw new OtherEcho(
    'validate answers, but does not return the payload that was sent; check that the base URL is that of the partner API',
  );
}
