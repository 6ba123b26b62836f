import { afterEach, expect, it } from 'vitest';
import { defineConfig } from '../../lib/config/schema.ts';
import { issueEvent } from '../issue-events.ts';
import { PROJECT, startRelay, type TestRelay } from '../relay.ts';

const MINUTE = 60_000;
let relay: TestRelay;
afterEach(() => relay.close());

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
  expect(relay.sandbox.data.defects.length - before).toBe(10);
});
