import type { Budget, Slot } from '../../service/budget/budget.ts';
import { BudgetUnavailable } from '../../service/budget/budget-store.ts';
import type { Lane } from '../../service/budget/lanes.ts';
import type { Limits } from '../../service/budget/window.ts';
import { McpUnanswered } from '../protocol/errors.ts';
import type { Permit } from '../protocol/transport.ts';

export interface PermitOptions {
  budget: Budget;
  /** The budget of the instance's MCP endpoint: `mcpBudgetName`. */
  name: string;
  limits: Limits;
  lane: Lane;
  clock: () => number;
  sleep: (ms: number) => Promise<unknown>;
  /**
   * Waits in place until then, or throws what makes the caller come back later. Epoch milliseconds.
   * @param why for people
   */
  waitUntil: (at: number, why: string) => Promise<void>;
}

/**
 * Lets each request to an MCP endpoint wait for a slot of the budget that all workers share. There is no waiting line:
 * who cannot wait in place comes back, and is then ahead of new callers of its lane.
 */
export function createPermit(options: PermitOptions): Permit {
  const { budget, name, limits, lane, clock, sleep, waitUntil } = options;
  const request = { connection: name, limits, lane, cameBack: true, waitsUntil: Number.POSITIVE_INFINITY };

  async function takeSlot(): Promise<Slot> {
    for (;;) {
      const answer = await budget.requestSlot(request);
      if (!answer.granted) {
        await waitUntil(answer.askAgainAt ?? clock(), `the budget of the assistant endpoint: ${answer.why}`);
        continue;
      }
      const { slot } = answer;
      if (slot.sendAt > clock()) await sleep(slot.sendAt - clock());
      if (await slot.isGood()) return slot;
      slot.giveUp();
      await waitUntil(clock(), 'no slot could be used in time');
    }
  }

  /** A slot that is good once `beforeSend` is done, which may have waited for the table. */
  async function slotAfter(beforeSend: (() => Promise<void>) | undefined): Promise<Slot> {
    for (;;) {
      const slot = await takeSlot();
      try {
        await beforeSend?.();
      } catch (error) {
        slot.giveUp();
        throw error;
      }
      if (clock() <= slot.goodUntil) return slot;
      slot.giveUp();
    }
  }

  return async (send, beforeSend) => {
    const slot = await slotAfter(beforeSend);
    try {
      const answer = await send();
      slot.answered();
      return answer;
    } catch (error) {
      // Whatever else is thrown, the request may have left.
      if (error instanceof McpUnanswered && !error.sent) slot.giveUp();
      else await slot.unanswered().catch(ignoreUnavailable);
      throw error;
    }
  };
}

/** That the call was sent counts for more: a creating tool must not look as if nothing had been sent. */
function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof BudgetUnavailable)) throw error;
}
