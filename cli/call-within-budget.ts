import type { Budget, Limits, Slot } from '../lib/budget/budget.ts';
import type { PartnerClient } from '../lib/partner/client.ts';
import { PartnerError, PartnerUnanswered } from '../lib/partner/errors.ts';

export interface WithinBudget {
  client: PartnerClient;
  budget: Budget;
  connection: string;
  limits: Limits;
  clock: () => number;
  sleep: (ms: number) => Promise<void>;
  /** Tells the person at the terminal what the call waits for. */
  tell: (line: string) => void;
}

/** How long the budget may make a call wait in place for its slot. */
const WAITS_IN_PLACE_MS = 5_000;

/**
 * Calls that take slots of the budget that a relay shares, as background work: somebody at a terminal can wait, and must
 * not go ahead of people in Slack and on GitHub. Behind a backlog a call waits, and says for what.
 */
export function callWithinBudget(options: WithinBudget): PartnerClient['call'] {
  const { client, budget, connection, limits, clock, sleep, tell } = options;

  async function takeSlot(): Promise<Slot> {
    for (let cameBack = false; ; cameBack = true) {
      const waitsUntil = clock() + WAITS_IN_PLACE_MS;
      const answer = await budget.requestSlot({ connection, limits, lane: 'background', cameBack, waitsUntil });
      if (!answer.granted) {
        const until = new Date(answer.comeBackAt).toISOString();
        tell(`waiting until ${until} for the budget of ${connection}: ${answer.why}; Ctrl+C ends it`);
        await sleep(Math.max(0, answer.comeBackAt - clock()));
        continue;
      }
      const { slot } = answer;
      if (slot.sendAt > clock()) await sleep(slot.sendAt - clock());
      if (await slot.isGood()) return slot;
      slot.giveUp();
    }
  }

  return async (operation, payload) => {
    // A payload that the operation does not take is refused here, before it waits for anything.
    client.sign(operation, payload);
    const slot = await takeSlot();
    try {
      const result = await client.call(operation, payload);
      slot.answered();
      return result;
    } catch (error) {
      if (error instanceof PartnerUnanswered && !error.sent) slot.giveUp();
      else if (error instanceof PartnerError && error.status !== null) slot.answered();
      throw error;
    }
  };
}
