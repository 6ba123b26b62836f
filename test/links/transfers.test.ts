import { beforeEach, describe, expect, it } from 'vitest';
import { requeueJob } from '../../lib/engine/line/sweep.ts';
import { discardJob } from '../../lib/engine/operate/resume.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { transferOf } from './transfer.ts';

const OTHER = 'Codertocat/Other';
let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay({ config: exampleConfig({ comment: false }, { also: [OTHER] }) });
});
const scopes = (of: string[]) => {
  const [key] = relay.sandbox.keys;
  if (key) key.scopes = of;
};

const opened = issueEvent('opened');
const edited = (seconds: number, title: string) => issueEvent('edited', { id: 2, seconds, repository: OTHER, title });
const there = issueEvent('opened', { id: 2, seconds: 5, repository: OTHER });
const [went, came] = transferOf(issueEvent('opened', { seconds: 5 }), there);
const third = issueEvent('opened', { id: 3, seconds: 6, title: 'the last place' });
const inOther = issueEvent('opened', { id: 2, seconds: 6, repository: OTHER });
const [wentFurther, cameFurther] = transferOf(inOther, third);

const post = async (...events: object[]) => {
  for (const event of events) {
    expect((await relay.post('issues', event)).status).toBe(202);
    relay.clock.now += 1;
  }
};

describe('a transfer that arrives', () => {
  it('before the jobs of both issues is known to each of them', async () => {
    await relay.happens(opened);
    await post(edited(9, 'edited'), went, came);
    await relay.workToTheEnd();
    expect(relay.defects()).toMatchObject([{ title: 'edited' }]);
    expect(await relay.jobs('parked')).toEqual([]);
  });

  it.each([
    ['the old repository tells first', [went, came]],
    ['the new repository tells first', [came, went]],
  ])('after both issues have a defect parks one job, which names both: %s', async (_, transfer) => {
    await relay.happens(opened, edited(9, 'edited'), ...transfer, edited(10, 'edited again'));
    const [first, second] = relay.defects().map(({ defect_id }) => defect_id);
    expect(relay.defects()).toHaveLength(2);
    const parked = await relay.jobs('parked');
    expect(parked.map(({ parked }) => parked?.reason)).toEqual([
      expect.stringMatching(
        new RegExp(`Other#2 has defect ${second}, and .*Hello-World#1, .* has defect ${first}; decide with`),
      ),
    ]);
  });

  it('while the new issue waits to create one moves the defect there', async () => {
    await relay.happens(opened);
    relay.sandbox.setFault({ kind: 'rate-limited', operation: '/defects/create', times: 1, retryAfterSeconds: 600 });
    await post(edited(9, 'edited'));
    await relay.work();
    expect(await relay.jobs('waiting')).toHaveLength(1);
    await post(came, went);
    await relay.workToTheEnd();
    expect(relay.defects()).toMatchObject([{ title: 'edited' }]);
    expect(await relay.jobs('parked')).toEqual([]);
  });

  it.each([
    ['was created', 'after work', 2],
    ['was not created', 'before work', 1],
  ] as const)('while it is unknown whether the new issue got one parks one job: it %s', async (_, when, count) => {
    await relay.happens(opened);
    relay.sandbox.setFault({ kind: 'cut', when, operation: '/defects/create', times: 1 });
    relay.sandbox.setFault({ kind: 'maintenance', skip: 1 });
    await post(edited(9, 'edited'));
    await relay.work();
    relay.sandbox.clearFaults();
    await post(came, went);
    await relay.workToTheEnd();
    expect(relay.defects()).toHaveLength(count);
    expect(await relay.jobs('parked')).toHaveLength(1);
  });

  it("after a later transfer moves the defect to the issue's current place", async () => {
    await relay.happens(opened);
    await post(cameFurther, came);
    await relay.workToTheEnd();
    expect(relay.defects()).toMatchObject([{ title: 'the last place' }]);
    expect(await relay.jobs('parked')).toEqual([]);
  });

  it.each([
    ['answered', () => {}],
    ['not answered', () => relay.sandbox.setFault({ kind: 'cut', when: 'after work', operation: '/defects/update' })],
  ])('by half, and whole after an update of the old issue, ends like the new issue: %s', async (_, disturb) => {
    await relay.happens(opened);
    relay.table.stopAt((body) => body.includes('link#issue-9001') && body.includes('"moved"'));
    const wentEdited = { ...went, issue: { ...went.issue, title: 'old' } };
    expect((await relay.post('issues', wentEdited)).status).toBe(500);
    relay.table.goOn();
    await relay.happens(edited(9, 'edited'));
    disturb();
    await post(issueEvent('edited', { seconds: 4, title: 'old' }));
    await relay.work();
    relay.sandbox.clearFaults();
    expect(relay.defects()).toMatchObject([{ title: 'old' }]);
    await relay.happens(wentEdited);
    expect(relay.defects()).toMatchObject([{ title: 'edited' }]);
    expect(await relay.jobs('parked')).toEqual([]);
  });
});

it('a later event names both defects again if the job that named them is being discarded', async () => {
  await relay.happens(opened, edited(9, 'edited'), came);
  const [job = expect.fail('no job is parked')] = await relay.jobs('parked');
  // The discard's message is lost until the next sweep.
  const queue = { ...relay.stores.queue, async send() {} };
  const options = { ...relay.stores, queue, clock: () => relay.clock.now };
  await discardJob(job, { by: 'someone', reason: 'not wanted' }, options);
  await relay.happens(edited(10, 'edited again'));
  const parked = await relay.jobs('parked');
  expect(parked.map(({ id, parked }) => [id === job.id, parked?.reason])).toEqual([
    [false, expect.stringContaining('which was transferred to it, has defect')],
  ]);
});

describe('a chain of transfers', () => {
  const last = issueEvent('edited', { id: 3, seconds: 9, title: 'in the last place' });
  const happens = (...events: object[]) => relay.happens(...events);
  it.each([
    { order: 'in order', transfers: [came, went, cameFurther, wentFurther], tell: post },
    { order: 'in order', transfers: [came, cameFurther, went, wentFurther], tell: happens },
    { order: 'the later one first', transfers: [wentFurther, cameFurther, came], tell: post },
    { order: 'the later one first', transfers: [cameFurther, came], tell: happens },
  ])('names each pair of defects in one parked job: told $order', async ({ transfers, tell }) => {
    await relay.happens(opened, edited(4, 'edited'), last);
    const [first, second, third] = relay.defects().map(({ defect_id }) => defect_id);
    await tell(...transfers);
    await relay.workToTheEnd();
    await relay.happens(issueEvent('edited', { id: 3, seconds: 10, title: 'edited again' }));
    expect(relay.defects()).toHaveLength(3);
    const reasons = (await relay.jobs('parked')).map(({ parked }) => parked?.reason ?? '');
    const naming = (...ids: unknown[]) => reasons.filter((reason) => ids.every((id) => reason.includes(String(id))));
    expect([naming(first, second).length, naming(second, third).length, reasons.length]).toEqual([1, 1, 2]);
  });

  it('moves the defect if the claim on the way was discarded', async () => {
    await relay.happens(opened);
    scopes([]);
    await relay.happens(edited(4, 'edited'));
    scopes(['*']);
    await post(came);
    const [job = expect.fail('no job is parked')] = await relay.jobs('parked');
    await discardJob(job, { by: 'someone', reason: 'not wanted' }, { ...relay.stores, clock: () => relay.clock.now });
    await relay.workToTheEnd();
    await relay.happens(cameFurther);
    expect(relay.defects()).toMatchObject([{ title: 'the last place' }]);
    expect(await relay.jobs('parked')).toEqual([]);
  });

  it.each([
    ['the new repository', cameFurther],
    ['the old repository, before the new one says anything', wentFurther],
  ])('names both defects if the first is named while the second is being recorded: %s names it', async (_, further) => {
    await relay.happens(opened, edited(4, 'edited'));
    const [first, second] = relay.defects().map(({ defect_id }) => defect_id);
    relay.table.loseAnswer(
      (body) => body.includes('link#issue-9003') && body.includes('claim'),
      () => post(came),
    );
    await relay.happens(further, last);
    expect(relay.table.lost).toBe(1);
    expect((await relay.jobs('parked')).map(({ parked }) => parked?.reason)).toEqual([
      expect.stringMatching(new RegExp(`#3 has defect ${second}, and .*#1, .* has defect ${first}; decide with`)),
    ]);
  });
});

it("a job that a refusal has parked creates the transferred issue's defect when it is replayed", async () => {
  relay.sandbox.setFault({ kind: 'rate-limited', operation: '/defects/create', times: 1, retryAfterSeconds: 600 });
  await post(opened);
  await relay.work();
  await post(came, went);
  await relay.work();
  scopes([]);
  await relay.workToTheEnd();
  const [_job, ...others] = await relay.jobs('parked');
  expect(others).toEqual([]);
  scopes(['*']);
  await relay.replay();
  expect(relay.defects()).toMatchObject([{ description: expect.stringContaining('Other#2') }]);
  expect(await relay.jobs('parked')).toEqual([]);
});

it('a tie on the link that a transfer leads to is resolved, too', async () => {
  // The job of the first issue resolves its tie, and its creation meets a temporary failure.
  relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival', operation: '/defects/create', times: 1 });
  relay.sandbox.setFault({ kind: 'key-revoked', times: 2, skip: 1 });
  const titles = ['edited', 'in the same second'];
  await post(opened, ...titles.map((title) => issueEvent('edited', { seconds: 1, title })));
  await relay.work();
  await post(went);
  await relay.work();
  // The first job continues, and just before it runs, two more events of the same second arrive.
  relay.sandbox.clearFaults();
  const [waiting = expect.fail('no job waits')] = await relay.jobs('waiting');
  await requeueJob(waiting, relay.stores);
  await post(edited(5, 'a'), edited(5, 'b'));
  await relay.workToTheEnd();
  expect([...(await relay.jobs('queued')), ...(await relay.jobs('waiting'))]).toEqual([]);
});
