import { afterEach, expect, it, onTestFinished } from 'vitest';
import { requeueJob } from '../../lib/engine/line/sweep.ts';
import { resolveJob } from '../../lib/engine/operate/resolve.ts';
import { startGithubApi } from '../github-api.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { clearLink } from './clear-link.ts';

let relay: TestRelay;
afterEach(() => relay.close());

const defectOf = async () => {
  const link = await relay.links.get('issue-9001');
  return link.life === 'made' ? link.defect.id : undefined;
};

it.each(['again', 'search'] as const)(
  'after `relay issue --clear`, `resolve --%s` finds what was created',
  async (how) => {
    relay = await startRelay();
    const before = relay.sandbox.data.defects.length;
    relay.sandbox.setFault({ kind: 'cut', when: 'after work', operation: '/defects/create', times: 1 });
    relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival', operation: '/defects/create', skip: 1 });
    relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival', operation: '/defects/list' });
    await relay.post('issues', issueEvent('opened'));
    await relay.workToTheEnd();
    const [job = expect.fail('no job is parked')] = await relay.jobs('parked');
    expect(job.parked?.kind).toBe('outcome unknown');
    expect(relay.sandbox.data.defects.length - before).toBe(1);
    relay.sandbox.clearFaults();
    relay.clock.now += 10 * 60_000;
    await clearLink(relay, 1);
    if (how === 'search') await requeueJob(job, relay.stores);
    else await resolveJob(job, 'again', { ...relay.stores, by: 'alice', clock: () => relay.clock.now });
    await relay.workToTheEnd();
    expect(relay.sandbox.data.defects.length - before).toBe(1);
    expect(await relay.jobs('parked')).toEqual([]);
  },
);

it('a cleared link does not get the cleared defect back', async () => {
  const github = await startGithubApi(() => relay.clock.now);
  onTestFinished(() => github.close());
  github.refusal = { status: 403, message: 'Resource not accessible by personal access token' };
  relay = await startRelay({
    config: exampleConfig({}, { apiUrl: github.url }),
    github: { token: 'ghp_of_the_tests' },
  });
  await relay.post('issues', issueEvent('opened'));
  await relay.work();
  const [job] = await relay.jobs('parked');
  const cleared = await defectOf();
  expect(cleared).toBeDefined();
  await clearLink(relay, 1);
  github.refusal = undefined;
  if (job) await requeueJob(job, relay.stores);
  await relay.workToTheEnd();
  expect(await defectOf()).not.toBe(cleared);
});
