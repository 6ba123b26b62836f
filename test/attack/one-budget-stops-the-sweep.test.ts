import { afterEach, expect, it } from 'vitest';
import { defineConfig } from '../../lib/config/schema.ts';
import { issueEvent } from '../issue-events.ts';
import { PROJECT, startRelay, type TestRelay } from '../relay.ts';

const MINUTE = 60_000;
let relay: TestRelay;
afterEach(() => relay.close());

/**
 * Promised: a failure stops only what it concerns; "the sweep moves the line every minute, each connection on its own".
 * Happens: while the budget item of one connection cannot be read (here: makes no sense), the waiting line of another
 * connection is never moved on again once no worker is busy with it, and the sweep records no heartbeat.
 * Mechanism: functions/job-sweep.ts:20 awaits lines.moveOn of one connection after the other without a catch; moveOn
 * throws BudgetUnavailable (waiting-line.ts:56), or an AggregateError for one message that SQS did not take
 * (batches.ts:17), and the connections behind it in relay.config.ts get nothing. recordState and Heartbeat come after it.
 */
it('the budget of one connection does not stop the waiting line of another', async () => {
  const on = (name: string, connection: string) => ({
    ...{ name, connection },
    issueToDefect: { projectId: PROJECT, comment: false },
  });
  relay = await startRelay({
    config: defineConfig({
      connections: { broken: {}, works: { limits: { perMinute: 20 } } },
      github: { repositories: [on('Codertocat/Hello-World', 'broken'), on('Codertocat/Other', 'works')] },
    }),
  });
  const before = relay.sandbox.data.defects.length;
  await relay.stores.table.put({ pk: 'budget#broken', sk: 'budget', version: 1, granted: 'broken' });
  for (let id = 1; id <= 10; id++) {
    await relay.post('issues', issueEvent('opened', { id, repository: 'Codertocat/Other' }));
  }
  // Ten minutes during which no job can be called, so that afterwards only the sweep is left to call one.
  relay.sandbox.setFault({ kind: 'rate-limited', times: 1, retryAfterSeconds: 600 });
  let errors = 0;
  for (let minute = 0; minute < 120; minute++) {
    await relay.work();
    relay.clock.now += MINUTE;
    await relay.sweep().catch((error) => {
      if (errors++ === 0) console.log(String(error));
    });
  }
  const beats = relay.metrics.filter((metric) => 'Heartbeat' in metric).length;
  console.log({ errors, beats, made: relay.sandbox.data.defects.length - before });
  expect(relay.sandbox.data.defects.length - before).toBe(10);
});
