import { afterEach, expect, it } from 'vitest';
import { requeueJob } from '../../lib/engine/line/sweep.ts';
import { type GithubApi, startGithubApi } from '../github-api.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';

const OTHER = 'Codertocat/Other';
let relay: TestRelay;
afterEach(() => relay.close());

it('a tie on the link that a transfer leads to is settled too', async () => {
  relay = await startRelay({ config: exampleConfig({ comment: false }, { also: [OTHER] }) });
  const { sandbox } = relay;
  // The job of the first issue settles its tie (revision 2), and its creation meets a failure that passes.
  sandbox.setFault({ kind: 'server-error', when: 'on arrival', operation: '/defects/create', times: 1 });
  sandbox.setFault({ kind: 'key-revoked', times: 2, skip: 1 });
  await relay.post('issues', issueEvent('opened', { id: 1 }));
  await relay.post('issues', issueEvent('edited', { id: 1, seconds: 1, title: 'edited' }));
  await relay.post('issues', issueEvent('edited', { id: 1, seconds: 1, title: 'in the same second' }));
  await relay.work();
  // The transfer, whose jobs run; then one more event of the same second comes, whose job has not run yet.
  const there = issueEvent('opened', { id: 2, repository: OTHER, seconds: 5 });
  await relay.post(
    'issues',
    issueEvent('transferred', {
      id: 1,
      seconds: 5,
      extra: { changes: { new_issue: there.issue, new_repository: there.repository } },
    }),
  );
  await relay.work();
  // The first job goes on (called, due, or replayed), and two more events of one second come just before it runs.
  sandbox.clearFaults();
  const waiting = (await relay.jobs('waiting'))[0];
  if (waiting) await requeueJob(waiting, relay.stores);
  await relay.post('issues', issueEvent('edited', { id: 2, repository: OTHER, seconds: 5, title: 'a' }));
  await relay.post('issues', issueEvent('edited', { id: 2, repository: OTHER, seconds: 5, title: 'b' }));
  // Keep the queue to the first job alone, as a worker does that got its message first.
  await relay.workToTheEnd();
  expect([...(await relay.jobs('queued')), ...(await relay.jobs('waiting'))]).toEqual([]);
});

it.each<[string, (github: GithubApi) => void]>([
  [
    'was deleted',
    (github) => {
      github.refusal = { status: 410, message: 'This issue was deleted' };
    },
  ],
  [
    'was transferred',
    (github) => {
      github.issues.set('Codertocat/Hello-World#1', issueEvent('opened', { id: 2, repository: OTHER }).issue);
    },
  ],
])('an older event of one second that comes again after the issue %s changes nothing', async (_, happens) => {
  const github = await startGithubApi(() => relay.clock.now);
  relay = await startRelay({
    config: exampleConfig({ comment: false }, { also: [OTHER], apiUrl: github.url }),
    github: { token: 'ghp_test' },
  });
  const [older, newer] = ['older', 'newer'].map((title) => issueEvent('edited', { seconds: 1, title }));
  if (!older || !newer) throw new Error('no events');
  for (const event of [issueEvent('opened'), older, newer]) {
    github.issues.set('Codertocat/Hello-World#1', event.issue);
    await relay.post('issues', event);
    await relay.workToTheEnd();
  }
  const defect = relay.sandbox.data.defects.at(-1);
  expect(defect).toMatchObject({ title: 'newer' });
  Object.assign(defect ?? {}, { title: 'as a person wants it' });
  happens(github);
  await relay.post('issues', older);
  await relay.workToTheEnd();
  expect(relay.sandbox.data.defects.at(-1)).toMatchObject({ title: 'as a person wants it' });
  expect((await relay.jobs()).map(({ outcome }) => outcome)).toContainEqual(
    expect.stringContaining('deleted or transferred'),
  );
  await github.close();
});
