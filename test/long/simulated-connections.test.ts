import { describe, expect, it } from 'vitest';
import { quantile } from '../service/budget/figures.ts';
import { isAfterStart, p99Of, sentInMinutes, waitsOf, waitsOfPeople } from '../simulation/figures.ts';
import { expectQuickAndCheap, simulateKeepingPromises } from '../simulation/keeps-its-promises.ts';
import { type Call, simulate } from '../simulation/simulation.ts';
import * as loads from '../simulation/workloads.ts';

it('uses the limits of six connections at once', async () => {
  const load = loads.sixConnections(1);
  const { result, figures } = await simulateKeepingPromises(load);
  // The backlog ends in the last ten minutes.
  const full = Math.floor(loads.ISSUES_OF_EACH / (10 * load.limits.perMinute));
  for (const parts of Object.values(figures.used)) {
    // After a cold start, all workers are busy for half a minute with the messages before a connection's first.
    for (const [at, part] of parts.slice(0, full).entries()) {
      expect.soft(part).toBeGreaterThanOrEqual(at === 0 ? 0.93 : 0.95);
    }
  }
  // New jobs that join the line move it.
  expectQuickAndCheap(figures, 3.5);
  expect.soft(result.jobs).toEqual({ succeeded: load.arrivals.length });
});

describe('a quiet team beside busy teams', () => {
  const ofQuiet = (lane: Call['lane']) => (call: Call) => call.connection === loads.QUIET && call.lane === lane;

  it.each([
    [1, 300, 1],
    [4, 2_000, 1],
    [10, 2_000, 2],
  ])(
    'hardly waits beside %i of them, answered within %i ms, and they use their limits',
    async (busy, slowestMs, seed) => {
      const load = loads.besideBusyTeams(busy, 'derived', slowestMs, seed);
      const { result } = await simulateKeepingPromises(load);
      const waits = waitsOf(result.calls, ofQuiet('background'));
      expect
        .soft(waits.length)
        .toBe(load.arrivals.filter((one) => one.lane === 'background' && one.connection === loads.QUIET).length);
      expect.soft(quantile(waits, 0.9)).toBeLessThanOrEqual(5 * loads.SECOND);
      expect.soft(p99Of(waitsOfPeople(result.calls))).toBeLessThanOrEqual(2 * loads.SECOND);
      // The backlog ends in the third minute.
      for (const name of load.connections.filter((one) => one !== loads.QUIET)) {
        const sent = result.calls.filter(({ connection }) => connection === name);
        expect
          .soft(sentInMinutes(sent, load.runsMs).slice(0, 2))
          .toEqual([expect.any(Number), expect.toSatisfy((second) => second >= 114)]);
      }
    },
  );
});

it('an operation that fails for 1,500 jobs does not slow the other connection down', async () => {
  // The 1,500 messages that come at once delay everything, whether they succeed or fail.
  const ofOther = async (fails: boolean) => {
    const { calls } = await simulate(loads.failingOperation(fails, 1));
    return p99Of(waitsOf(calls, (call) => call.connection === 'other' && isAfterStart(call)));
  };
  expect(await ofOther(true)).toBeLessThanOrEqual(1.2 * (await ofOther(false)));
});
