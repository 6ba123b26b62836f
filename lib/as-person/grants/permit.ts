import type { Budget } from '../../service/budget/budget.ts';
import { createGate } from '../../service/budget/gate.ts';
import type { Lane } from '../../service/budget/lanes.ts';
import type { Limits } from '../../service/budget/window.ts';
import { McpUnanswered } from '../protocol/errors.ts';
import type { Permit } from '../protocol/transport.ts';

export interface PermitOptions {
  budget: Budget;
  /** The budget's name: see `mcpBudgetName`. */
  name: string;
  /** `connections.<name>.mcp.limits` of the configuration. */
  limits: Limits;
  lane: Lane;
  clock: () => number;
  sleep: (ms: number) => Promise<unknown>;
  /**
   * Waits in this run until the time (epoch milliseconds), or throws so that the job continues later.
   * @param why for people
   */
  waitUntil: (at: number, why: string) => Promise<void>;
}

/**
 * Makes each request to an MCP endpoint wait for a slot of the budget that all workers share. There is no waiting line:
 * a job that cannot wait in its run returns later, and then precedes new callers of its lane.
 */
export function createPermit({ budget, name, limits, lane, clock, sleep, waitUntil }: PermitOptions): Permit {
  const asked = { connection: name, limits, lane, cameBack: true, waitsUntil: Number.POSITIVE_INFINITY };
  const gate = createGate({
    clock,
    sleep,
    request: () => budget.requestSlot(asked),
    wait: ({ askAgainAt = clock(), why }) => waitUntil(askAgainAt, `the budget of the MCP endpoint: ${why}`),
    // After any other error, the request may have left.
    reached: (error) => (error instanceof McpUnanswered && !error.sent ? 'never left' : 'no answer'),
  });
  return async (send, leaving) =>
    gate.send(await gate.take(), async () => {
      await leaving?.mayLeave();
      return () => {
        leaving?.leaves();
        return send();
      };
    });
}
