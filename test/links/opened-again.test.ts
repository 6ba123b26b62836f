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
