import { expect, it } from 'vitest';
import { startRelay, type TestRelay } from '../relay.ts';
import { ask, PLATFORM } from '../slack-requests.ts';

let relay: TestRelay;

it.each([400, 403, 404, 422])('a page with status %i refuses one call, and stops nothing else', async (status) => {
  relay = await startRelay();
  relay.sandbox.setFault({ kind: 'maintenance', status, operation: '/defects/create', times: 1 });
  await ask(relay, 'defect Cart is empty', { channelId: PLATFORM });
  const parked = await relay.jobs('parked');
  expect([...parked, ...(await relay.jobs('not-done'))]).toHaveLength(1);
  expect(relay.sandbox.audit.map(({ endpoint }) => endpoint)).toEqual(['/defects/create']);
  expect((await ask(relay, 'defect Cart is full', { channelId: PLATFORM })).inTheEnd).toContain('Created defect');
});

it("the service's message about a single field reaches the person who typed it", async () => {
  relay = await startRelay({ sandbox: { rename: { '/defects/create': { fields: { title: 'summary' } } } } });
  const { inTheEnd } = await ask(relay, 'defect Cart is empty', { channelId: PLATFORM });
  expect(inTheEnd).toContain('summary: is required');
});
