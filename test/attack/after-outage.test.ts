import { afterEach, expect, it } from 'vitest';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
let relay: TestRelay;
afterEach(() => relay.close());

/**
 * Promised: at least 95% of the limit is used while there is work; somebody new goes behind the line if there is one.
 */
it('after an outage the line is moved on as fast as slots open, and new jobs stand behind it', async () => {
  relay = await startRelay({ config: exampleConfig({ comment: false }) });
  const before = relay.sandbox.data.defects.length;
  const pass = async (ms: number) => {
    for (const end = relay.clock.now + ms; relay.clock.now < end; ) {
      relay.clock.now = Math.min(end, relay.clock.now + SECOND);
      if (relay.clock.now % MINUTE < SECOND) await relay.sweep();
      await relay.work();
    }
  };
  relay.sandbox.setFault({ kind: 'key-revoked' });
  for (let id = 1; id <= 700; id++) await relay.post('issues', issueEvent('opened', { id }));
  await pass(3 * MINUTE);
  expect(await relay.jobs('waiting')).toHaveLength(700);
  relay.sandbox.clearFaults();
  const from = relay.clock.now;
  while (relay.sandbox.data.defects.length === before) await pass(SECOND);
  const since = relay.clock.now;
  const budget = await relay.stores.table.get({ pk: 'budget#main', sk: 'budget' });
  console.log({ recovered: (since - from) / SECOND, backgroundSince: budget?.backgroundSince });
  const perMinute: number[] = [];
  const newIds: number[] = [];
  let id = 1_000;
  for (let minute = 0; minute < 5; minute++) {
    const at = relay.sandbox.data.defects.length;
    for (let i = 0; i < 6; i++) {
      await pass(10 * SECOND);
      await relay.post('issues', issueEvent('opened', { id: ++id }));
    }
    perMinute.push(relay.sandbox.data.defects.length - at);
    newIds.push((await relay.jobs('succeeded')).filter(({ entity }) => Number(entity.split('#')[1]) > 1_000).length);
  }
  console.log({
    perMinute,
    newIds,
    backgroundSince: (await relay.stores.table.get({ pk: 'budget#main', sk: 'budget' }))?.backgroundSince,
  });
  expect(newIds.at(-1)).toBe(0);
  for (const calls of perMinute.slice(1)) expect(calls).toBeGreaterThanOrEqual(108);
}, 200_000);
