import { afterEach, expect, it } from 'vitest';
import * as releaseToChecklist from '../../docs/guides/automations/release-to-checklist.ts';
import { startRelay, type TestRelay, type TestRelayOptions } from '../relay.ts';

let relay: TestRelay;
afterEach(() => relay.close());

const start = async (own: TestRelayOptions['own']) => {
  relay = await startRelay({ own: own ?? {} });
};

const release = (id = 1) => ({
  action: 'published',
  release: { id, tag_name: 'v1', prerelease: false, published_at: '2026-11-20T09:59:00Z' },
  repository: { full_name: 'Codertocat/Hello-World' },
  sender: { login: 'Codertocat', type: 'User' },
});

it('a published release completes the checklist item, once', async () => {
  await start({ 'release-to-checklist': releaseToChecklist });
  expect((await relay.post('release', release())).status).toBe(202);
  expect((await relay.post('release', release())).status).toBe(200);
  await relay.workToTheEnd();
  expect(await relay.jobs()).toMatchObject([
    { automation: 'release-to-checklist', status: 'succeeded', outcome: 'completed checklist item 101 for v1' },
  ]);
});
