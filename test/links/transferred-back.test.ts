import { afterEach, expect, it } from 'vitest';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';

const OTHER = 'Codertocat/Other';
let relay: TestRelay;
afterEach(() => relay.close());

it.each([1, 2])('an issue transferred away and, at second %i, back keeps being followed', async (seconds) => {
  relay = await startRelay({ config: exampleConfig({ comment: false }, { also: [OTHER] }) });
  const happens = async (...event: Parameters<typeof issueEvent>) => {
    await relay.post('issues', issueEvent(...event));
    await relay.workToTheEnd();
    relay.clock.now += 1;
  };
  const here = issueEvent('opened', { id: 1 });
  const there = issueEvent('opened', { id: 2, repository: OTHER });
  const goes = (to: typeof here) => ({ changes: { new_issue: to.issue, new_repository: to.repository } });
  const came = { changes: { old_issue: here.issue, old_repository: here.repository } };
  await happens('opened', { id: 1 });
  await happens('transferred', { id: 1, seconds: 1, extra: goes(there) });
  await happens('opened', { id: 2, seconds: 1, repository: OTHER, extra: came });
  await happens('transferred', { id: 2, seconds, repository: OTHER, extra: goes(here) });
  await happens('edited', { id: 1, seconds: 3, title: 'back again' });
  expect(relay.sandbox.data.defects.at(-1)).toMatchObject({ title: 'back again' });
});
