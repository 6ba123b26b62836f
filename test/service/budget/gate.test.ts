import { describe, expect, it } from 'vitest';
import { createGate, type Reached } from '../../../lib/service/budget/gate.ts';
import { openBudgets } from './open-budgets.ts';

const { start } = openBudgets();
const limits = { perMinute: 10, perDay: 100 };

/** @param late the time to grant the first slot, and to prepare the first request */
async function sendThrough(late: { grantMs?: number; prepareMs?: number }, reached?: Reached) {
  const { connection, clock, budget, ask } = start(limits);
  let asked = 0;
  const request = async () => {
    asked++;
    const answer = await ask();
    if (asked === 1) clock.now += late.grantMs ?? 0;
    return answer;
  };
  const wait = async () => {};
  const now = () => clock.now;
  const gate = createGate({ clock: now, request, wait, sleep: wait, reached: () => reached ?? 'answered' });
  const sent = gate.send(await gate.take(), async () => {
    if (asked === 1) clock.now += late.prepareMs ?? 0;
    return () => (reached ? Promise.reject(new Error(reached)) : Promise.resolve('sent'));
  });
  await (reached ? expect(sent).rejects.toThrow(reached) : expect(sent).resolves.toBe('sent'));
  await budget.flush(connection);
  const used: number[] = [];
  for (const later of [0, 65_000, 65_000]) {
    clock.now += later;
    used.push((await budget.view(connection, limits)).minute.used);
  }
  return { asked, used };
}

describe('a call through a gate', () => {
  it.each([
    ['is answered', undefined, [1, 0, 0]],
    ['is refused', 'answered', [1, 0, 0]],
    ['may have left', 'no answer', [1, 1, 0]],
    ['never left', 'never left', [0, 0, 0]],
  ] as const)('that %s counts as long as the service may count it', async (_, reached, used) => {
    expect(await sendThrough({}, reached)).toEqual({ asked: 1, used });
  });

  it.each([
    [{ prepareMs: 1_000 }, 1],
    [{ prepareMs: 1_001 }, 2],
    [{ grantMs: 1_000 }, 1],
    [{ grantMs: 1_001 }, 2],
  ])('that is late for its slot, by %o, gives it up and takes another: %i in all', async (late, asked) => {
    expect(await sendThrough(late)).toEqual({ asked, used: [1, 0, 0] });
  });
});
