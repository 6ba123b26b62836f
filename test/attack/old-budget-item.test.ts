import { afterEach, expect, it } from 'vitest';
import { pack } from '../../lib/budget/packed.ts';
import { issueEvent } from '../issue-events.ts';
import { startRelay, type TestRelay } from '../relay.ts';

const MINUTE = 60_000;
let relay: TestRelay;
afterEach(() => relay.close());

/**
 * Promised: an event answered with 2xx is never lost, and everything goes on by itself after a deployment.
 * Happens: after an upgrade of a table that has a budget item of the form before f1e8447 (attributes `since`, `slots`,
 * `firstBucket`, `buckets`, `interactive`, `background` below the same key `budget#main`), no call is ever sent again.
 * Mechanism: lib/budget/budget-item.ts:19 asks only whether there is an item, and unpackWindow (window.ts:78) throws a
 * TypeError for the missing `minute`; budget.ts:168 makes BudgetUnavailable of it; every job waits 30 s, for ever
 * (slots.ts:49), without an attempt and so without being parked. The item has no expiry and nothing ever writes it,
 * because a write needs the read. The sweep throws at the same place (job-sweep.ts:20): no Heartbeat either.
 */
it('a budget item of the earlier form does not stop a connection for ever', async () => {
  relay = await startRelay();
  const before = relay.sandbox.data.defects.length;
  const at = relay.clock.now - 10 * MINUTE;
  await relay.stores.table.put({
    ...{ pk: 'budget#main', sk: 'budget', version: 7, since: at, slots: pack([0, 500, 700]) },
    ...{ firstBucket: Math.floor(at / 600_000), buckets: pack([3]), pausedUntil: 0 },
    ...{ interactive: pack([]), background: pack([]), interactiveSince: undefined },
  });
  await relay.post('issues', issueEvent('opened'));
  for (let minutes = 0; minutes < 3 * 24 * 60; minutes += 30) {
    await relay.work();
    relay.clock.now += 30 * MINUTE;
    await relay.sweep().catch(() => {});
  }
  console.log((await relay.jobs()).map(({ status, attempts, waitingFor }) => ({ status, attempts, waitingFor })));
  expect(relay.sandbox.data.defects.length - before).toBe(1);
});
