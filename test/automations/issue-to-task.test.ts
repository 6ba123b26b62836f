import { afterEach, beforeEach, expect, it } from 'vitest';
import { issueEvent } from '../issue-events.ts';
import { startRelay, type TestRelay } from '../relay.ts';

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay();
});
afterEach(() => relay.close());

const happens = (action: string, fields: Parameters<typeof issueEvent>[1]) =>
  relay.post('issues', issueEvent(action, { title: 'Renew the certificate', ...fields }));
const made = () => relay.sandbox.data.tasks.filter(({ title }) => title === 'Renew the certificate');

it('an issue becomes a task once, whatever happens to its labels, also after the records have expired', async () => {
  await happens('opened', { labels: [] });
  await happens('labeled', { seconds: 1, labels: ['Task'] });
  await relay.workToTheEnd();
  expect(made()).toMatchObject([{ description: expect.stringContaining('https://github.com/') }]);
  expect(await relay.jobs('parked')).toEqual([]);

  await happens('labeled', { seconds: 2, labels: ['task'] });
  relay.clock.now += 31 * 86_400_000;
  await happens('labeled', { seconds: 31 * 86_400, labels: ['task'] });
  await relay.workToTheEnd();
  expect(made()).toHaveLength(1);
});
