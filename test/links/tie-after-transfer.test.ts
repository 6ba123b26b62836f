import { afterEach, expect, it } from 'vitest';
import { requeueJob } from '../../lib/engine/line/sweep.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { transferOf } from './transfer.ts';

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
  await relay.post('issues', transferOf(issueEvent('opened', { seconds: 5 }), there)[0]);
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
