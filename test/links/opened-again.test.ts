import { afterEach, beforeEach, expect, it } from 'vitest';
import { issueEvent } from '../issue-events.ts';
import { startRelay, type TestRelay } from '../relay.ts';

const NAME = 'Codertocat/Hello-World#1';
let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay();
});
afterEach(() => relay.close());

const link = async (entity: string) => (await relay.links.get(entity)).life;

it("an issue opened under another issue's name gets that name", async () => {
  await relay.post('issues', issueEvent('opened', { id: 1, seconds: 1 }));
  await relay.workToTheEnd();
  await relay.post('issues', issueEvent('opened', { id: 2, seconds: 2, number: 1 }));
  await relay.workToTheEnd();
  expect(await relay.links.named(NAME)).toBe('issue-9002');
  expect([await link('issue-9001'), await link('issue-9002')]).toEqual(['made', 'made']);
});

it('a late repeated event takes no name from another issue', async () => {
  await relay.post('issues', issueEvent('opened', { id: 1, seconds: 1 }));
  await relay.workToTheEnd();
  await relay.post('issues', issueEvent('opened', { id: 2, seconds: 2, number: 1 }));
  await relay.workToTheEnd();
  await relay.post('issues', issueEvent('opened', { id: 1, seconds: 1 }));
  expect(await relay.links.named(NAME)).toBe('issue-9002');
});

it.each([
  ['a defect', ['opened'], 'issue-9001'],
  ['a defect, changed,', ['opened', 'edited'], 'issue-9001'],
  ['no defect', ['unlabeled'], undefined],
] as const)('the name of an issue with %s lasts as long as its link', async (_, actions, entity) => {
  for (const [seconds, action] of actions.entries()) {
    await relay.post('issues', issueEvent(action, { id: 1, seconds, labels: action === 'unlabeled' ? [] : ['bug'] }));
    await relay.workToTheEnd();
  }
  relay.clock.now += 31 * 86_400_000;
  expect(await relay.links.named(NAME)).toBe(entity);
  await relay.post('issues', issueEvent('opened', { id: 1, seconds: 31 * 86_400 }));
  await relay.workToTheEnd();
  expect(await link('issue-9001')).toBe('made');
});
