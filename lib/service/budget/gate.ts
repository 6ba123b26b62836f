import type { Slot, SlotAnswer } from './budget.ts';
import { BudgetUnavailable } from './budget-store.ts';

/** A slot that is due, and the times of the wait for it. Epoch milliseconds. */
export interface TakenSlot {
  slot: Slot;
  /** True for resends and searches, which go ahead of other work. */
  urgent: boolean;
  askedAt: number;
  grantedAt: number;
}

/** How far a request without a result got. The budget counts each request that may have reached the service. */
export type Reached = 'never left' | 'answered' | 'no answer';

export interface GateOptions {
  clock: () => number;
  sleep: (ms: number) => Promise<unknown>;
  /** Asks the budget for a slot. @param askedAt when the caller began to ask */
  request: (urgent: boolean, askedAt: number) => Promise<SlotAnswer>;
  /** Waits in place until the budget may be asked again, or throws to make the caller return later. */
  wait: (obstacle: Pick<SlotAnswer & { granted: false }, 'why' | 'askAgainAt' | 'expectedAt'>) => Promise<void>;
  reached: (error: unknown) => Reached;
}

/** Lets the requests of one caller leave, each in a slot of a budget. */
export function createGate({ clock, sleep, request, wait, reached }: GateOptions) {
  /** Takes a slot and waits until it is due. @throws {BudgetUnavailable} and what `wait` throws */
  async function take(urgent = false): Promise<TakenSlot> {
    const askedAt = clock();
    for (;;) {
      const answer = await request(urgent, askedAt);
      if (!answer.granted) {
        await wait(answer);
        continue;
      }
      const { slot } = answer;
      if (slot.sendAt > clock()) await sleep(slot.sendAt - clock());
      if (await slot.isGood()) return { slot, urgent, askedAt, grantedAt: clock() };
      slot.giveUp();
      await wait({ askAgainAt: clock(), why: 'no slot could be used in time' });
    }
  }

  return {
    take,
    /**
     * Sends a request in the slot, and tells the budget how the request ended.
     *
     * @param prepare returns the function that sends the request. Called while the slot is due, and again with another
     * slot if it took too long. If it throws, the request is not sent.
     * @throws {BudgetUnavailable} before the request leaves, and what `wait`, `prepare` and the request throw
     */
    async send<T>(first: TakenSlot, prepare: () => Promise<(taken: TakenSlot) => Promise<T>>): Promise<T> {
      let taken = first;
      for (;;) {
        const { slot } = taken;
        const send = await prepare().catch((error) => {
          slot.giveUp();
          throw error;
        });
        if (clock() <= slot.goodUntil) return inSlot(slot, () => send(taken));
        slot.giveUp();
        taken = await take(taken.urgent);
      }
    },
  };

  async function inSlot<T>(slot: Slot, send: () => Promise<T>): Promise<T> {
    try {
      const result = await send();
      await slot.answered().catch(ignoreUnavailable);
      return result;
    } catch (error) {
      const how = reached(error);
      if (how === 'never left') slot.giveUp();
      else await (how === 'answered' ? slot.answered() : slot.unanswered()).catch(ignoreUnavailable);
      throw error;
    }
  }
}

/** Ignores a failure of the budget after the send, because a request that may have left must not look unsent. */
function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof BudgetUnavailable)) throw error;
}
