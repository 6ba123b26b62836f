import type * as z from 'zod';
import type { Budget } from '../budget/budget.ts';
import type { Lane } from '../budget/lanes.ts';
import type { Connection } from '../connection/connection.ts';
import type { Outages } from '../connection/outages.ts';
import type { Result } from '../partner/answer.ts';
import type { Operation } from '../partner/operation.ts';
import { type Creating, createCreations } from './creations.ts';
import { decisions } from './decide.ts';
import type { Journal } from './journal.ts';
import { type CallNews, createSending } from './sending.ts';
import { createSlots } from './slots.ts';

/** Calls of the partner API as a job makes them: within the budget, and decided by what becomes of them. */
export interface PartnerCalls {
  /** Calls an operation that may be repeated harmlessly. */
  repeatable<P extends z.ZodType, D extends z.ZodType>(
    operation: Operation<P, D>,
    payload: z.input<P>,
  ): Promise<Result<z.output<D>>>;
  creating: Creating;
  /** Whether the waiting lines of the connection are to be moved on, once the run has ended. */
  lineIsDue(): boolean;
}

export interface PartnerCallsOptions {
  connection: Connection;
  lane: Lane;
  /** Whether the job has waited before: then it is ahead of new ones. */
  cameBack: boolean;
  budget: Budget;
  outages: Outages;
  journal: Journal;
  clock: () => number;
  sleep: (ms: number) => Promise<void>;
  /** When this run must have ended: the Lambda's time-out. Epoch milliseconds. */
  deadline: number;
  tell: (news: CallNews) => void;
}

export function createPartnerCalls(options: PartnerCallsOptions): PartnerCalls {
  const { connection } = options;
  const slots = createSlots(options);
  const sending = createSending({ ...options, slots });

  async function callRepeatable<P extends z.ZodType, D extends z.ZodType>(
    operation: Operation<P, D>,
    payload: z.input<P>,
    first: boolean,
  ): Promise<Result<z.output<D>>> {
    for (let signedAgain = false; ; signedAgain = true) {
      const slot = await sending.takeSlot(first);
      const client = await connection.client();
      try {
        return await sending.send(slot, first, () => client.call(operation, payload));
      } catch (thrown) {
        const { error, outcome } = await sending.outcomeTold(thrown, signedAgain);
        await sending.act(decisions[outcome].repeatable, error, signedAgain);
      }
    }
  }

  return {
    repeatable: (operation, payload) => callRepeatable(operation, payload, false),
    lineIsDue: slots.lineIsDue,
    creating: createCreations({
      ...options,
      slots,
      sending,
      search: (operation, payload) => callRepeatable(operation, payload, true),
    }),
  };
}
