import type * as z from 'zod';
import type { Budget } from '../budget/budget.ts';
import type { Lane } from '../budget/lanes.ts';
import type { Breakers } from '../connection/breakers.ts';
import type { Connection } from '../connection/connection.ts';
import type { Result } from '../partner/answer.ts';
import type { Operation } from '../partner/operation.ts';
import { decisions } from './decide.ts';
import { type CallNews, createSending, type Sending, type SendOptions } from './sending.ts';
import { createSlots, type Slots } from './slots.ts';
import type { StrangerTurn } from './stranger-turn.ts';

export interface RepeatableCallsOptions {
  connection: Connection;
  lane: Lane;
  /** The caller: a job's id. */
  caller: string;
  /** True if the job has waited before. It then goes ahead of new jobs. */
  cameBack: boolean;
  budget: Budget;
  breakers: Breakers;
  clock: () => number;
  sleep: (ms: number) => Promise<void>;
  /** When this run must end: the Lambda's time-out. Epoch milliseconds. */
  deadline: number;
  report: (news: CallNews) => void;
  /** Set for a job that an outside contributor caused. */
  strangerTurn?: StrangerTurn | undefined;
}

/** Calls of operations that may be repeated without harm, and so need no journal. */
export interface RepeatableCalls {
  slots: Slots;
  sending: Sending;
  call<P extends z.ZodType, D extends z.ZodType>(
    operation: Operation<P, D>,
    payload: z.input<P>,
    options?: SendOptions,
  ): Promise<Result<z.output<D>>>;
}

export function createRepeatableCalls(options: RepeatableCallsOptions): RepeatableCalls {
  const { connection } = options;
  const slots = createSlots(options);
  const sending = createSending({ ...options, slots });
  return {
    slots,
    sending,
    async call(operation, payload, options = { first: false }) {
      const { first } = options;
      let turn = await sending.takeTurn(operation, first);
      for (let signedAgain = false; ; signedAgain = true) {
        const client = await connection.client();
        try {
          return await sending.send(turn, options, () => client.call(operation, payload));
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
    },
  };
}
