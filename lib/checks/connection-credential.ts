import { isDeepStrictEqual } from 'node:util';
import { decisions } from '../decide.ts';
import { outcomeOf } from '../engine/record/sends.ts';
import type { Runtime } from '../runtime.ts';
import type { Budget } from '../service/budget/budget.ts';
import { BudgetUnavailable } from '../service/budget/budget-store.ts';
import { createGate } from '../service/budget/gate.ts';
import type { Connection } from '../service/connection/connection.ts';
import { withTheirClock } from '../service/connection/operator-calls.ts';
import type { PartnerClient } from '../service/partner/client.ts';
import { PartnerError, reachedBy } from '../service/partner/errors.ts';
import { validate } from '../service/partner/operation.ts';
import { CannotTell, Unanswered, Wrong } from './check.ts';
import type { Credential } from './credential-check.ts';

/** How long the check waits for a slot. */
const LONGEST_PAUSE_MS = 8_000;

/**
 * Checks a connection with the service's `/validate`. The check neither obeys nor changes the breakers, because opening
 * or closing one calls the waiting jobs.
 */
export function connectionCredential(
  connection: Connection,
  { budget, metrics, clock, sleep }: Pick<Runtime, 'metrics' | 'clock' | 'sleep'> & { budget: Budget },
): Credential {
  const { name, limits } = connection;

  const call: PartnerClient['call'] = async (operation, payload) => {
    const waitsUntil = clock() + LONGEST_PAUSE_MS;
    const gate = createGate({
      clock,
      sleep,
      request: () => budget.requestSlot({ connection: name, limits, lane: 'background', waitsUntil }),
      reached: reachedBy,
      async wait({ askAgainAt, why }) {
        if (askAgainAt === undefined) throw new CannotTell(why);
        await sleep(Math.max(0, askAgainAt - clock()));
      },
    });
    const client = await connection.client();
    return gate.send(await gate.take(), async () => () => client.call(operation, payload));
  };

  async function inWords(error: unknown): Promise<never> {
    if (error instanceof BudgetUnavailable) throw new CannotTell(error.message);
    if (!(error instanceof PartnerError)) throw error;
    const decision = decisions[outcomeOf(error)].repeatable;
    if (decision === 'park') throw new Wrong(error.message);
    if (decision !== 'wait for budget') throw new Unanswered(error.message);
    // Only a 429 is recorded here. A refused key has the metric of this check, which lasts until the next check.
    metrics.record({ RateLimited: 1 }, name);
    const { retryAfterSeconds } = error;
    await budget.pause(name, limits, retryAfterSeconds === null ? undefined : retryAfterSeconds * 1_000).catch(inWords);
    throw new CannotTell('the service wants fewer calls');
  }

  return {
    what: `${name}: credentials`,
    secret: `partner/${name}`,
    metric: 'ConnectionCredentialsFail',
    look: () => compareEcho((payload) => withTheirClock(call)(connection.operation(validate), payload)).catch(inWords),
  };
}

/** Contains every JSON type and non-ASCII text, to detect an encryption that changes the payload. */
const ECHO = { relay: 'credentials', text: 'Grüße ✓ "\\/', number: 1.5, none: null, list: [true, { deep: [] }] };

/**
 * Lets the service decrypt and return a payload, which proves that the key, the encryption and the signature are right
 * (docs/partner-api.md#operations).
 *
 * @param validate calls the operation of that name
 * @returns what the answer proves
 * @throws {Wrong} if the service returns something else, and what `validate` throws
 */
export async function compareEcho(validate: (payload: typeof ECHO) => Promise<{ data: unknown }>): Promise<string> {
  const { data } = await validate(ECHO);
  if (isDeepStrictEqual(data, ECHO))
    return 'validate returned the payload unchanged: key, encryption and signature are correct';
  throw new Wrong(
    'validate answers, but does not return the payload that was sent; check that the base URL is that of the partner API',
  );
}
