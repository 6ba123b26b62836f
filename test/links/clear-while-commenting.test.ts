import { afterEach, expect, it } from 'vitest';
import { requeueJob } from '../../lib/engine/line/sweep.ts';
import { startGithubApi } from '../github-api.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { clearLink } from './clear-link.ts';

let relay: TestRelay;
afterEach(() => relay.close());

it('a cleared link does not get the cleared defect back', async () => {
  const github = await startGithubApi(() => relay.clock.now);
  github.refusal = { status: 403, message: 'Resource not accessible by personal access token' };
  relay = await startRelay({
    config: exampleConfig({}, { apiUrl: github.url }),
    github: { token: 'ghp_of_the_tests' },
  });
  await relay.post('issues', issueEvent('opened'));
  await relay.work();
  const [job] = await relay.jobs();
  const { stores } = relay;
  const link = await relay.links.get('issue-9001');
  expect(link.life).toBe('made');
  const cleared = link.life === 'made' ? link.defect.id : undefined;
  await clearLink(relay, 1);
  github.refusal = undefined;
  if (job?.status === 'parked') await requeueJob(job, stores);
  await relay.workToTheEnd();
  const after = await relay.links.get('issue-9001');
  await github.close();
  expect(after.life === 'made' ? after.defect.id : undefined).not.toBe(cleared);
});
