import type * as z from 'zod';
import type { Budget, Slot } from '../budget/budget.ts';
import type { Connection } from '../connection/connection.ts';
import type { Outages } from '../connection/outages.ts';
import type { Result } from '../partner/answer.ts';
import { PartnerError, PartnerPayloadError, PartnerUnanswered } from '../partner/errors.ts';
import { validate } from '../partner/validate.ts';
import { type Decision, decisions, type Outcome, outcomeOf } from './decide.ts';
import { Later, Refused, StepFailed } from './interruption.ts';
import { type Slots, withBudget } from './slots.ts';

/** Where a 429 says nothing of its own. */
const RATE_LIMIT_PAUSE_MS = 60_000;

export type CallNews = { news: 'rate limited' } | { news: 'credentials refused'; reason: string };

/** One send of a job: when it may leave, and what its outcome means for the connection and the job. */
export interface Sending {
  /** Takes a slot once the connection may be called, after a probe where one is due. */
  takeSlot(first: boolean): Promise<Slot>;
  /** Sends within the slot, or within another one if the slot is too old by now, and reports how the slot was used. */
  send<D extends z.ZodType>(
    slot: Slot,
    first: boolean,
    call: () => Promise<Result<z.output<D>>>,
  ): Promise<Result<z.output<D>>>;
  /** Reads the outcome of a failed send, and reports what it means for the whole connection. */
  outcomeTold(error: unknown, again: boolean): Promise<{ error: PartnerError; outcome: Outcome }>;
  /** Carries out a decision where no request is open: throws, or returns to sign again at once. */
  act(decision: Decision, error: PartnerError, signedAgain: boolean): Promise<void>;
  /** Stops every job on the connection after a 429. @returns until when, in epoch milliseconds */
  pauseConnection(error: PartnerError): Promise<number>;
}

export interface SendingOptions {
  connection: Connection;
  budget: Budget;
  outages: Outages;
  slots: Slots;
  clock: () => number;
  tell: (news: CallNews) => void;
}

export function createSending({ connection, budget, outages, slots, clock, tell }: SendingOptions): Sending {
  /** Finds out with a call that changes nothing whether the connection works again; a creation could get lost in it. */
  async function probe(): Promise<void> {
    const slot = await slots.take(true);
    const client = await connection.client();
    try {
      await sending.send(slot, true, () => client.call(connection.operation(validate), {}));
    } catch (thrown) {
      const { error } = await sending.outcomeTold(thrown, true);
      await sending.act('wait for connection', error, true);
    }
  }

  const sending: Sending = {
    async takeSlot(first) {
      slots.ensureTimeForCall();
      const gate = await outages.gate(connection.name);
      if (!gate.open) throw new Later(gate.comeBackAt, gate.why);
      if (gate.probe) await probe();
      return slots.take(first);
    },
    async send(taken, first, call) {
      let slot = taken;
      while (clock() > slot.goodUntil) {
        slot.giveUp();
        slot = await slots.take(first);
      }
      const result = await call().catch(async (error) => {
        const neverSent = error instanceof PartnerUnanswered ? !error.sent : error instanceof PartnerPayloadError;
        if (neverSent) slot.giveUp();
        else if (error instanceof PartnerUnanswered) await withBudget(slot.unanswered(), clock);
        else if (error instanceof PartnerError && error.status !== null) slot.answered();
        throw error;
      });
      slot.answered();
      await outages.answered(connection.name);
      return result;
    },
    async outcomeTold(error, again) {
      if (!(error instanceof PartnerError)) throw error;
      const outcome = outcomeOf(error);
      const keyRefused = outcome === 'invalid signature' || outcome === 'unknown or revoked key';
      if (outcome === 'unauthorized') connection.suspectKey();
      if (keyRefused) {
        connection.suspectKey();
        tell({ news: 'credentials refused', reason: outcome });
      }
      // A first invalid signature may be a rotation, for which the secret has just been read again.
      const whole =
        decisions[outcome].repeatable === 'wait for connection' || (outcome === 'invalid signature' && again);
      if (whole) await outages.failed(connection.name, error.message);
      else if (outcome === 'no answer') await outages.suspect(connection.name, error.message);
      else await outages.answered(connection.name);
      return { error, outcome };
    },
    async act(decision, error, signedAgain) {
      if (decision === 'wait for budget')
        throw new Later(await sending.pauseConnection(error), 'the service wants fewer calls');
      if (decision === 'park') throw new Refused(error);
      if (decision === 'sign anew' && !signedAgain) return;
      if (decision !== 'retry later') {
        const gate = await outages.gate(connection.name);
        if (!gate.open) throw new Later(gate.comeBackAt, gate.why);
      }
      throw new StepFailed(error.message, { cause: error });
    },
    async pauseConnection(error) {
      tell({ news: 'rate limited' });
      const { retryAfterSeconds } = error;
      const until = clock() + (retryAfterSeconds === null ? RATE_LIMIT_PAUSE_MS : retryAfterSeconds * 1000);
      await budget.pause(connection.name, until);
      return until;
    },
  };
  return sending;
}
