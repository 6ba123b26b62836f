import { expect, it } from 'vitest';
import { issueEvent } from '../issue-events.ts';
import { startRelay, type TestRelay } from '../relay.ts';
import { ask, PLATFORM } from '../slack-requests.ts';

let relay: TestRelay;

it.each([400, 403, 422])('a page with status %i refuses one call, and stops nothing else', async (status) => {
  relay = await startRelay();
  relay.sandbox.setFault({ kind: 'maintenance', status, operation: '/defects/create', times: 1 });
  await ask(relay, 'defect Cart is empty', { channelId: PLATFORM });
  const parked = await relay.jobs('parked');
  expect([...parked, ...(await relay.jobs('not-done'))]).toHaveLength(1);
  expect(relay.sandbox.audit.map(({ endpoint }) => endpoint)).toEqual(['/defects/create']);
  expect((await ask(relay, 'defect Cart is full', { channelId: PLATFORM })).inTheEnd).toContain('Created defect');
});

it('a page with status 404 refuses nothing: an object created before the page is not created again', async () => {
  relay = await startRelay();
  relay.sandbox.setFault({
    kind: 'maintenance',
    status: 404,
    when: 'after work',
    operation: '/defects/create',
    times: 1,
  });
  await relay.happens(issueEvent('opened', { id: 1 }));
  await relay.replay();
  expect(relay.defects()).toHaveLength(1);
});

it("the service's message about a single field reaches the person who typed it", async () => {
  relay = await startRelay({ sandbox: { rename: { '/defects/create': { fields: { title: 'summary' } } } } });
  const { inTheEnd } = await ask(relay, 'defect Cart is empty', { channelId: PLATFORM });
  expect(inTheEnd).toContain('summary: is required');
});
