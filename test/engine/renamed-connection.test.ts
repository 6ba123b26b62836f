import { afterEach, expect, it } from 'vitest';
import { defineConfig } from '../../lib/config/schema.ts';
import { openJournal } from '../../lib/engine/record/journal.ts';
import { createMarkers } from '../../lib/engine/record/markers.ts';
import { decideLink } from '../../lib/operators/decide-link.ts';
import { issueEvent } from '../issue-events.ts';
import { PROJECT, startRelay, type TestRelay } from '../relay.ts';

const MINUTE = 60_000;
let relay: TestRelay;
afterEach(() => relay.close());

it('a job in the line of a renamed connection does not keep its claim for a week', async () => {
  const config = (connection: string) =>
    defineConfig({
      connections: { [connection]: { limits: { perMinute: 20 } } },
      github: {
        repositories: [
          { name: 'Codertocat/Hello-World', connection, issueToDefect: { projectId: PROJECT, comment: false } },
        ],
      },
    });
  relay = await startRelay({ config: config('main') });
  const before = relay.sandbox.data.defects.length;
  const [key] = relay.sandbox.keys;
  relay.stack.secrets.put(`${relay.stack.secretPrefix}partner/renamed`, { baseUrl: relay.sandbox.url, ...key });
  relay.sandbox.setFault({ kind: 'rate-limited', times: 1, retryAfterSeconds: 600 });
  await relay.post('issues', issueEvent('opened'));
  await relay.work();
  expect(await relay.jobs('waiting')).toMatchObject([{ line: 'main#background' }]);

  // The deployment.
  const { runtime } = relay;
  for (const name of Object.keys(runtime.config.connections)) delete runtime.config.connections[name];
  Object.assign(runtime.config.connections, config('renamed').connections);
  Object.assign(runtime.config.github, config('renamed').github);

  for (let day = 1; day <= 6; day++) {
    await relay.post('issues', issueEvent('edited', { seconds: day * 86_400, title: `day ${day}` }));
    for (let hour = 0; hour < 24; hour += 3) {
      await relay.work();
      relay.clock.now += 180 * MINUTE;
      await relay.sweep();
    }
  }
  const clear = decideLink({ entity: 'issue-9001', name: 'Codertocat/Hello-World#1' }, 'clear', {
    ...relay.stores,
    config: runtime.config,
    journal: (id) => openJournal(relay.stores.table, id, () => relay.clock.now),
    markers: createMarkers(relay.stores.secrets),
    by: 'alice',
    clock: () => relay.clock.now,
  });
  await clear.catch((error) => console.log(String(error)));
  const made = relay.sandbox.data.defects.length - before;
  expect({ made, parked: (await relay.jobs('parked')).length }).not.toEqual({ made: 0, parked: 0 });
});
