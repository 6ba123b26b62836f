import { beforeEach, describe, expect, it } from 'vitest';
import { resolveJob } from '../../lib/engine/operate/resolve.ts';
import { discardJob } from '../../lib/engine/operate/resume.ts';
import { readJob } from '../../lib/engine/record/read-job.ts';
import { keys } from '../../lib/state/table/keys.ts';
import { issueEvent } from '../issue-events.ts';
import { startRelay, type TestRelay } from '../relay.ts';
import { ask } from '../slack-requests.ts';

const operation = '/defects/create';
const HOUR = 3_600_000;

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay();
});

const options = () => ({ ...relay.stores, clock: () => relay.clock.now });

async function only() {
  const [job] = await relay.jobs();
  const view = job && (await readJob(job.id, options()));
  if (!view) throw new Error('there is no job');
  return view;
}

describe('the history of a step', () => {
  const lost = { came: 'no answer', why: expect.stringContaining('the connection was cut') };

  it.each([
    [
      'on arrival',
      [lost, { came: 'accepted', status: 201, sameBytes: true }],
      'the service accepted the same bytes when they were sent again',
    ],
    [
      'after work',
      [
        lost,
        {
          came: 'nonce already used',
          status: 401,
          why: expect.stringContaining('the same request had already arrived'),
          sameBytes: true,
        },
        { came: 'accepted', status: 200, calls: 'defects/list' },
      ],
      'it was found by its marker in defects/list',
    ],
  ] as const)('keeps its sends and what settled it, for an answer cut %s', async (when, sends, settledBy) => {
    relay.sandbox.setFault({ kind: 'cut', when, operation, times: 1 });
    await relay.happens(issueEvent('opened'));
    const [step] = (await only()).steps;
    expect(step).toMatchObject({
      step: 'create-defect',
      status: 'done',
      sends: { older: 0, newest: sends },
      settledBy,
    });
    // In the end, neither counts as a failure of the operation.
    const { breakers } = (await relay.stores.table.get(keys.breaker('main'))) ?? {};
    expect(breakers).toMatchObject({ 'defects/create': { failures: 0 } });
  });

  it('keeps the sends of a run that has to wait', async () => {
    relay.sandbox.setFault({ kind: 'cut', when: 'after work', operation, times: 4 });
    await relay.post('issues', issueEvent('opened'));
    await relay.work();
    const { job, steps } = await only();
    expect(job.status).toBe('waiting');
    expect(steps).toMatchObject([{ step: 'create-defect', status: 'begun' }]);
    const sent = steps[0]?.sends?.newest.length ?? 0;
    expect(sent).toBeGreaterThan(0);

    await relay.workToTheEnd();
    const after = await only();
    expect(after.steps[0]?.sends?.newest.length).toBeGreaterThan(sent);
    expect(after.job.unfinished).toBeUndefined();
  });
});

describe('discarding a job', () => {
  it.each(['again', 'discarded'])(
    'whose request is held by a gateway, for a service that is almost five minutes late, makes no second defect after the job is %s',
    async (decision) => {
      const held: (() => Promise<unknown>)[] = [];
      let isHeld = true;
      relay = await startRelay({
        sandbox: { clock: () => relay.clock.now - 299_000 },
        runtime: {
          async fetch(url, init) {
            if (!isHeld || !String(url).endsWith(operation)) return fetch(url, init);
            held.push(() => fetch(url, init));
            throw new Error('no answer');
          },
        },
      });
      await relay.happens(issueEvent('opened', { id: 1 }));
      isHeld = false;
      const { job } = await only();
      const by = { by: 'alice', reason: 'a test' };
      const decide = () =>
        decision === 'again' ? resolveJob(job, 'again', { ...options(), ...by }) : discardJob(job, by, options());
      while ((await decide().catch(() => 'too early')) === 'too early') relay.clock.now += 1_000;
      const now = relay.clock.now;
      await relay.workToTheEnd();
      await relay.happens(issueEvent('edited', { id: 1, seconds: 3_600 }));
      relay.clock.now = now;
      for (const arrive of held) await arrive();
      expect(relay.defects()).toHaveLength(1);
    },
  );

  it('the next event finds the defect of a discarded job whose outcome was unknown', async () => {
    // The service creates the defect, but neither its answer nor the list shows it.
    relay.sandbox.setFault({ kind: 'cut', when: 'after work', operation, times: 1 });
    relay.sandbox.setFault({ kind: 'maintenance', status: 422, operation: '/defects/list', times: 4 });
    await relay.happens(issueEvent('opened', { id: 1 }));
    const { job, openCreations } = await only();
    const [{ signedAt = 0 } = {}] = openCreations;
    const until = signedAt + 11 * 60_000;
    expect(openCreations).toMatchObject([{ operation: 'defects/create', again: false, until }]);
    await expect(discardJob(job, { by: 'alice', reason: 'a test' }, options())).rejects.toThrow(
      'the service may still carry out defects/create',
    );
    relay.clock.now += HOUR;
    await discardJob(job, { by: 'alice', reason: 'a test' }, options());
    await relay.workToTheEnd();

    await relay.happens(issueEvent('edited', { id: 1, seconds: 3_600, title: 'later' }));
    expect(relay.defects()).toMatchObject([{ title: 'later' }]);
  });

  it('a person reads why their job was discarded', async () => {
    relay.sandbox.setFault({ kind: 'maintenance', status: 403, operation: '/timelogs/create', times: 1 });
    const { inTheEnd } = await ask(relay, 'log 1h "Login with passkeys"');
    expect(inTheEnd).toContain('This could not be done: the service refused it');
    const { job } = await only();
    await discardJob(job, { by: 'alice', reason: 'the task is closed' }, options());
    await relay.workToTheEnd();
    expect(relay.lastMessage().text).toBe(
      ':warning: log 1h "Login with passkeys"\nYour request was discarded: the task is closed.',
    );
  });
});
