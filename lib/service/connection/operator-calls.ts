import { setTimeout } from 'node:timers/promises';
import type { Table } from '../../state/table/table.ts';
import { createBudget } from '../budget/budget.ts';
import type { Limits } from '../budget/window.ts';
import { createPartnerClient, type PartnerClient, type PartnerClientOptions } from '../partner/client.ts';
import { PartnerRefusal } from '../partner/errors.ts';
import { callWithinBudget } from './call-within-budget.ts';
import { budgetIdOf } from './connection.ts';

export interface CallsOptions {
  partner: Pick<PartnerClientOptions, 'baseUrl' | 'apiKey' | 'secretKey' | 'allowInsecureHttp'>;
  table: Table;
  connection: string;
  limits: Limits;
  /** That requests are signed by. */
  clock: () => number;
  fetch: typeof globalThis.fetch;
  /** Is told what a call waits for, before it does. */
  tell: (line: string) => void;
}

/** Calls with the relay's own key, in slots of its budget. */
export function callsWithin({ partner, table, clock, fetch, ...options }: CallsOptions): PartnerClient['call'] {
  const client = createPartnerClient({ ...partner, clock, fetch });
  const sleep = async (ms: number) => void (await setTimeout(ms));
  const budgetId = async () => budgetIdOf(partner);
  const budget = createBudget({ table, keyHolder: () => ({ budgetId, suspectKey() {} }) });
  return withTheirClock(callWithinBudget({ client, budget, clock: table.clock.now, sleep, ...options }));
}

/** Signs and sends again once if the clocks differ. A call refused for its timestamp was not carried out. */
export function withTheirClock(call: PartnerClient['call']): PartnerClient['call'] {
  return async (operation, payload) => {
    try {
      return await call(operation, payload);
    } catch (error) {
      if (error instanceof PartnerRefusal && error.clockOffsetSeconds !== null) return call(operation, payload);
      throw error;
    }
  };
}
