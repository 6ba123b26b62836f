import type * as z from 'zod';
import type { Sent } from '../../send-once.ts';
import type { Budget } from '../../service/budget/budget.ts';
import type { Lane } from '../../service/budget/lanes.ts';
import type { Breakers } from '../../service/connection/breakers.ts';
import type { Connection } from '../../service/connection/connection.ts';
import type { Result } from '../../service/partner/answer.ts';
import type { Operation } from '../../service/partner/operation.ts';
import { createSlots, type Slots } from '../line/slots.ts';
import type { StrangerTurn } from '../line/stranger-turn.ts';
import { decisions } from '../record/decide.ts';
import { RetryAt } from '../record/interruption.ts';
import type { Limited } from '../record/job.ts';
import { sendJudged } from './send-judged.ts';
import { type CallNews, createSending, type Sending, type SendOptions } from './sending.ts';

export interface RepeatableCallsOptions {
  connection: Connection;
  lane: Lane;
  /** The caller: a job's id. */
  caller: string;
  limited?: Limited | undefined;
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
    fence?: Fence,
  ): Promise<Result<z.output<D>>>;
}

/** Stands before a call that must not arrive after a later one. */
export interface Fence {
  /** A request is about to leave, and may arrive until its signature ends. @returns false if it must not be sent */
  leaves(): Promise<boolean>;
  /** The request was not carried out, and nothing of this call can arrive any more. */
  refused(): Promise<void>;
}

export function createRepeatableCalls(options: RepeatableCallsOptions): RepeatableCalls {
  const { connection, clock } = options;
  const slots = createSlots(options);
  const sending = createSending({ ...options, slots });
  return {
    slots,
    sending,
    async call(operation, payload, options = { first: false }, fence) {
      const { first } = options;
      let turn = await sending.takeTurn(operation, first);
      let isOpen = false;
      for (let signedAgain = false; ; signedAgain = true) {
        const client = await connection.client();
        if (fence && !(await fence.leaves())) {
          turn.slot.giveUp();
          throw new RetryAt(clock(), `${operation.name} has just been called by another run`);
        }
        const sent: Sent<Result<z.output<typeof operation.data>>> = await sendJudged(
          sending,
          { ...options, turn, wasOpen: isOpen },
          () => client.call(operation, payload),
        );
        if (sent.became === 'accepted') return sent.result;
        isOpen = sent.became === 'open';
        if (!isOpen) await fence?.refused();
        const failure = sending.read(sent.error);
        const decision = decisions[failure.outcome].repeatable;
        if (decision !== 'sign again' || signedAgain) {
          await sending.report(turn, failure);
          await sending.act(decision, failure);
        }
        turn = await sending.takeSlotAgain(turn, first);
      }
    },
  };
}
