import { beforeEach, describe, expect, it } from 'vitest';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';

const settings = { priority: { default: 'Medium', labels: { urgent: 'High' } } } as const;
let relay: TestRelay;

/**
 * Whether a gateway keeps the next update: it cuts the connection, and passes the update on only when the test says so.
 */
let keepsNext = false;
let passOn: () => Promise<Response>;
/** A relay whose issue has a defect, and a person has set the defect's priority to Low. */
beforeEach(async () => {
  keepsNext = false;
  relay = await startRelay({
    config: exampleConfig(settings),
    runtime: {
      async fetch(input, init) {
        if (!keepsNext || !String(input).endsWith('/defects/update')) return fetch(input, init);
        keepsNext = false;
        passOn = () => fetch(input, init);
        throw new TypeError('fetch failed', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) });
      },
    },
  });
  await relay.happens(issueEvent('opened'));
});
const defect = () => relay.defects()[0];
const edited = async (seconds: number, title: string) => {
  await relay.post('issues', issueEvent('edited', { seconds, title }));
  await relay.work();
};
const updates = () => relay.sandbox.audit.filter(({ endpoint }) => endpoint.endsWith('/defects/update'));

describe('a late update', () => {
  it('does not stay if a gateway kept it and cut the connection', async () => {
    keepsNext = true;
    await edited(1, 'one');
    await edited(2, 'two');
    relay.clock.now += 3_000;
    await relay.sweep();
    await relay.work();
    expect(defect()).toMatchObject({ title: 'two' });
    Object.assign(defect() ?? {}, { priority: 'Low' });
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

  it('leaves no doubt if it was refused', async () => {
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
