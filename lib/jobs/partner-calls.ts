import type * as z from 'zod';
import type { Budget } from '../budget/budget.ts';
import type { Lane } from '../budget/lanes.ts';
import type { Breakers } from '../connection/breakers.ts';
import type { Connection } from '../connection/connection.ts';
import type { Result } from '../partner/answer.ts';
import type { Operation } from '../partner/operation.ts';
import type { Table } from '../table/table.ts';
import { type Creating, createCreations } from './creations.ts';
import { decisions } from './decide.ts';
import type { Journal } from './journal.ts';
import { createReadings } from './readings.ts';
import { type CallNews, createSending } from './sending.ts';
import { createSlots } from './slots.ts';
import type { StrangerTurn } from './stranger-turn.ts';

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
  /** Whether the run had something to send. */
  hasAsked(): boolean;
}

export interface PartnerCallsOptions {
  table: Table;
  connection: Connection;
  lane: Lane;
  /** Who calls: a job's id. */
  caller: string;
  /** Whether the job has waited before: then it is ahead of new ones. */
  cameBack: boolean;
  budget: Budget;
  breakers: Breakers;
  journal: Journal;
  clock: () => number;
  sleep: (ms: number) => Promise<void>;
  /** When this run must have ended: the Lambda's time-out. Epoch milliseconds. */
  deadline: number;
  report: (news: CallNews) => void;
  /** Of a job that a stranger caused. */
  strangerTurn?: StrangerTurn | undefined;
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
    let turn = await sending.takeTurn(operation, first);
    for (let signedAgain = false; ; signedAgain = true) {
      const client = await connection.client();
      try {
        return await sending.send(turn, first, () => client.call(operation, payload));
      } catch (thrown) {
        const failure = sending.read(thrown);
        const decision = decisions[failure.outcome].repeatable;
        if (decision !== 'sign again' || signedAgain) {
          await sending.report(turn, failure);
          await sending.act(decision, failure);
        }
        turn = await sending.takeSlotAgain(turn, first);
      }
    }
  }

  const readings = createReadings({
    ...options,
    slots,
    read: (operation, payload) => callRepeatable(operation, payload, true),
  });
  return {
    repeatable: (operation, payload) => callRepeatable(operation, payload, false),
    lineIsDue: slots.lineIsDue,
    hasAsked: slots.hasAsked,
    creating: createCreations({ ...options, slots, sending, readings }),
  };
}
