import { afterEach, beforeEach, expect, it } from 'vitest';
import { keys } from '../../lib/table/keys.ts';
import { issueEvent } from '../issue-events.ts';
import { startRelay, type TestRelay } from '../relay.ts';

const NAME = 'Codertocat/Hello-World#1';
let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay();
});
afterEach(() => relay.close());

const link = async (entity: string) => (await relay.stores.links.get(entity)).life;

it('an issue that is opened under the name of another one gets that name', async () => {
  await relay.post('issues', issueEvent('opened', { id: 1, seconds: 1 }));
  await relay.workToTheEnd();
  await relay.post('issues', issueEvent('opened', { id: 2, seconds: 2, number: 1 }));
  await relay.workToTheEnd();
  expect(await relay.stores.links.named(NAME)).toBe('issue-9002');
  expect([await link('issue-9001'), await link('issue-9002')]).toEqual(['made', 'made']);
});

it('an event that comes again late takes no name from another issue', async () => {
  await relay.post('issues', issueEvent('opened', { id: 1, seconds: 1 }));
  await relay.workToTheEnd();
  await relay.post('issues', issueEvent('opened', { id: 2, seconds: 2, number: 1 }));
  await relay.post('issues', issueEvent('opened', { id: 1, seconds: 1 }));
  expect(await relay.stores.links.named(NAME)).toBe('issue-9002');
});

it('a link of an earlier version, which counted no turns and kept no names, keeps its defect', async () => {
  const { table, links } = relay.stores;
  await table.put({ ...keys.link('issue-9001'), claimedBy: 'a', connection: 'main', marker: 'm', defectId: 'd-1' });
  await relay.post('issues', issueEvent('opened'));
  expect(await links.get('issue-9001')).toMatchObject({ life: 'made', defect: { id: 'd-1' } });
});
