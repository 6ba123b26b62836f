import { afterEach, expect, it } from 'vitest';
import { requeueJob } from '../../lib/engine/line/sweep.ts';
import { openJournal } from '../../lib/engine/record/journal.ts';
import { createMarkers } from '../../lib/engine/record/markers.ts';
import { decideLink } from '../../lib/operators/decide-link.ts';
import { startGithubApi } from '../github-api.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';

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
  const { stores, runtime } = relay;
  const link = await relay.links.get('issue-9001');
  expect(link.life).toBe('made');
  const cleared = link.life === 'made' ? link.defect.id : undefined;
  await decideLink({ entity: 'issue-9001', name: 'Codertocat/Hello-World#1' }, 'clear', {
    ...stores,
    config: runtime.config,
    journal: (id) => openJournal(stores.table, id, () => relay.clock.now),
    markers: createMarkers(stores.secrets),
    by: 'alice',
    clock: () => relay.clock.now,
  });
  github.refusal = undefined;
  if (job?.status === 'parked') await requeueJob(job, stores);
  await relay.workToTheEnd();
  const after = await relay.links.get('issue-9001');
  await github.close();
  expect(after.life === 'made' ? after.defect.id : undefined).not.toBe(cleared);
});
