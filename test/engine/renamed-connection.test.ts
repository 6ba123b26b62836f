import { afterEach, expect, it } from 'vitest';
import { defineConfig } from '../../lib/config/schema.ts';
import { issueEvent } from '../issue-events.ts';
import { clearLink } from '../links/clear-link.ts';
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
  await clearLink(relay, 1).catch((error) => console.log(String(error)));
  const made = relay.sandbox.data.defects.length - before;
  expect({ made, parked: (await relay.jobs('parked')).length }).not.toEqual({ made: 0, parked: 0 });
});
