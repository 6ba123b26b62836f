import { afterEach, describe, expect, it, vi } from 'vitest';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';

const settings = { priority: { default: 'Medium', labels: { urgent: 'High' } } } as const;
let relay: TestRelay;
let seeded: number;
afterEach(() => relay.close());

/** Each of these keeps an update and passes it on when the test says so. */
const gateways = {
  'cuts the connection': async (): Promise<Response> => {
    throw new TypeError('fetch failed', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) });
  },
  'answers 502': async () => new Response('Bad gateway', { status: 502 }),
} as const;

let keepNext: (() => Promise<Response>) | undefined;
let passOn: () => Promise<Response>;
/** A relay whose issue has a defect with the priority Low, which a person has set. */
async function start(): Promise<void> {
  keepNext = undefined;
  passOn = async () => {
    throw new Error('nothing was kept');
  };
  relay = await startRelay({
    config: exampleConfig(settings),
    runtime: {
      fetch(input, init) {
        if (!keepNext || !String(input).endsWith('/defects/update')) return fetch(input, init);
        const answer = keepNext;
        keepNext = undefined;
        passOn = () => fetch(input, init);
        return answer();
      },
    },
  });
  seeded = relay.sandbox.data.defects.length;
  await relay.post('issues', issueEvent('opened'));
  await relay.workToTheEnd();
  relay.clock.now += 1;
}
const defect = () => relay.sandbox.data.defects[seeded];
const edited = async (seconds: number, title: string) => {
  await relay.post('issues', issueEvent('edited', { seconds, title }));
  await relay.work();
};
const updates = () => relay.sandbox.audit.filter(({ endpoint }) => endpoint.endsWith('/defects/update'));

describe('an update that arrives late', () => {
  it.each(Object.entries(gateways))('does not stay if a gateway kept it and %s', async (_, answer) => {
    await start();
    keepNext = answer;
    await edited(1, 'one');
    await edited(2, 'two');
    relay.clock.now += 3_000;
    await relay.sweep();
    await relay.work();
    expect(defect()).toMatchObject({ title: 'two' });
    const person = { ...defect(), priority: 'Low' } as (typeof relay.sandbox.data.defects)[number];
    relay.sandbox.data.defects[seeded] = person;
    relay.clock.now += 45_000;
    expect(await passOn()).toMatchObject({ status: 200 });
    expect(defect()).toMatchObject({ title: 'one' });
    await relay.workToTheEnd();
    expect(defect()).toMatchObject({ title: 'two', priority: 'Low' });
    expect(await relay.jobs('succeeded')).toHaveLength(3);
    const before = updates().length;
    await edited(1_000, 'three');
    await relay.workToTheEnd();
    expect(defect()).toMatchObject({ title: 'three', priority: 'Low' });
    expect(updates()).toHaveLength(before + 1);
  });

  it('does not stay if it was the update of a stalled worker', async () => {
    await start();
    let goOn = () => {};
    keepNext = () =>
      new Promise((resolve, reject) => {
        goOn = () => void passOn().then(resolve, reject);
      });
    await relay.post('issues', issueEvent('edited', { seconds: 1, title: 'one' }));
    const stalled = relay.work();
    await vi.waitUntil(() => keepNext === undefined);
    relay.clock.now += 2 * 60_000;
    await relay.post('issues', issueEvent('edited', { seconds: 2, title: 'two' }));
    await relay.sweep();
    await relay.work();
    expect(defect()).toMatchObject({ title: 'two' });
    goOn();
    await stalled;
    expect(defect()).toMatchObject({ title: 'one' });
    await relay.workToTheEnd();
    expect(defect()).toMatchObject({ title: 'two' });
  });

  it('leaves no doubt if it was refused', async () => {
    await start();
    relay.sandbox.setFault({ kind: 'rate-limited', operation: '/defects/update', times: 1 });
    const before = updates().length;
    await edited(1, 'one');
    const now = relay.clock.now;
    await relay.workToTheEnd();
    expect(relay.clock.now - now).toBeLessThan(5 * 60_000);
    expect(updates()).toHaveLength(before + 2);
    expect((await relay.links.get('issue-9001')).life).toBe('made');
  });
});
