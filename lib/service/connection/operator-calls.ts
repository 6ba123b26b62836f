import { setTimeout } from 'node:timers/promises';
import { localTime } from '../../dates.ts';
import type { Table } from '../../state/table/table.ts';
import { type Budget, createBudget } from '../budget/budget.ts';
import { createGate } from '../budget/gate.ts';
import type { Limits } from '../budget/window.ts';
import { createPartnerClient, type PartnerClient, type PartnerClientOptions } from '../partner/client.ts';
import { PartnerRefusal, reachedBy } from '../partner/errors.ts';
import { budgetIdOf } from './connection.ts';

export interface CallsOptions extends Pick<WithinBudget, 'connection' | 'limits' | 'clock' | 'tell'> {
  partner: Pick<PartnerClientOptions, 'baseUrl' | 'apiKey' | 'secretKey' | 'allowInsecureHttp'>;
  table: Table;
  fetch: typeof globalThis.fetch;
}

/** Makes calls with the relay's own key, in slots of its budget. */
export function callsWithin({ partner, table, clock, fetch, ...options }: CallsOptions): PartnerClient['call'] {
  const client = createPartnerClient({ ...partner, clock, fetch });
  const sleep = async (ms: number) => void (await setTimeout(ms));
  const budgetId = async () => budgetIdOf(partner);
  const budget = createBudget({ table, keyHolder: () => ({ budgetId, suspectKey() {} }) });
  return withTheirClock(callWithinBudget({ client, budget, clock: table.clock.now, sleep, ...options }));
}

/** Signs and sends again once if the clocks differ, because a call refused for its timestamp was not carried out. */
export function withTheirClock(call: PartnerClient['call']): PartnerClient['call'] {
  return async (operation, payload) => {
    try {
      return await call(operation, payload);
    } catch (error) {
      const { clockOffsetSeconds = null } = error instanceof PartnerRefusal ? error : {};
      if (clockOffsetSeconds === null) throw error;
      return { ...(await call(operation, payload)), clockOffsetSeconds };
    }
  };
}

export interface WithinBudget {
  client: PartnerClient;
  budget: Budget;
  connection: string;
  limits: Limits;
  clock: () => number;
  sleep: (ms: number) => Promise<void>;
  /** Shows the person at the terminal what the call waits for. */
  tell: (line: string) => void;
  /** True if the calls go ahead of all others, as searches after a lost answer do. */
  urgent?: boolean | undefined;
}

/**
 * Makes calls in slots of the relay's shared budget. By default, they are background work, because a person at a
 * terminal must not go ahead of people in Slack and on GitHub. The call waits in place, because it has no job for the
 * waiting line.
 */
export function callWithinBudget(options: WithinBudget): PartnerClient['call'] {
  const { client, budget, connection, limits, clock, sleep, tell, urgent = false } = options;
  const request = {
    connection,
    limits,
    lane: 'background',
    cameBack: true,
    waitsUntil: Number.POSITIVE_INFINITY,
  } as const;

  const gate = createGate({
    clock,
    sleep,
    request: (urgent) => budget.requestSlot({ ...request, urgent }),
    reached: reachedBy,
    async wait({ askAgainAt = clock(), why }) {
      tell(`waiting until ${localTime(askAgainAt)} for the budget of ${connection}: ${why}; press Ctrl+C to cancel`);
      await sleep(Math.max(0, askAgainAt - clock()));
    },
  });

  return async (operation, payload) => {
    // Refuses an invalid payload before the wait for a slot.
    client.sign(operation, payload);
    return gate.send(await gate.take(urgent), async () => () => client.call(operation, payload));
  };
}
