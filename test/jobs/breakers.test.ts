import { afterEach, describe, expect, it } from 'vitest';
import type { Fault } from '../../sandbox/faults.ts';
import { issueEvent } from '../issue-events.ts';
import { startRelay, type TestRelay, type TestRelayOptions } from '../relay.ts';
import { ask, command } from '../slack-requests.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

let relay: TestRelay;
let seeded: number;
afterEach(() => relay.close());

async function start(options: TestRelayOptions = {}): Promise<void> {
  relay = await startRelay(options);
  seeded = relay.sandbox.data.defects.length;
}

const defects = () => relay.sandbox.data.defects.slice(seeded);
const requestsTo = (operation: string) => relay.sandbox.audit.filter(({ endpoint }) => endpoint === operation).length;

async function open(count: number, from = 1): Promise<void> {
  for (let id = from; id < from + count; id++) await relay.post('issues', issueEvent('opened', { id }));
}

/** Time as it passes: every five seconds what wakes is worked on, and every minute the sweep runs. */
async function pass(ms: number): Promise<void> {
  for (const end = relay.clock.now + ms; relay.clock.now < end; ) {
    relay.clock.now = Math.min(end, relay.clock.now + 5 * SECOND);
    if (relay.clock.now % MINUTE < 5 * SECOND) await relay.sweep();
    await relay.work();
  }
}

describe('an operation that fails alone', () => {
  const faults: [string, Fault][] = [
    ['a page of a proxy', { kind: 'maintenance', operation: '/defects/update' }],
    ['a redirect', { kind: 'login-redirect', operation: '/defects/update' }],
    ['no answer', { kind: 'cut', when: 'on arrival', operation: '/defects/update' }],
    ['500', { kind: 'server-error', when: 'on arrival', operation: '/defects/update' }],
  ];

  it.each(faults)(
    'a failing operation stops nothing else, uses up attempts, and finally parks: %s',
    async (_, fault) => {
      await start();
      await open(1);
      await relay.work();
      relay.sandbox.setFault(fault);
      await relay.post('issues', issueEvent('edited', { id: 1, seconds: 1, title: 'changed' }));
      await open(8, 2);
      await relay.work();
      expect(defects()).toHaveLength(9);
      expect((await ask(relay, 'done 101')).inTheEnd).toContain('Completed checklist item 101');

      await relay.workToTheEnd();
      const [parked, ...others] = await relay.jobs('parked');
      expect(others).toEqual([]);
      expect(parked?.parked).toMatchObject({ reason: expect.stringMatching(/^defects\/update: .* \(8 attempts\)$/) });
      const paused = relay.metrics.map((record) => record.ConnectionPaused).filter((value) => value !== undefined);
      expect(new Set(paused)).toEqual(new Set([0]));
    },
  );

  it('an unreadable answer of one operation does not stop other operations', async () => {
    await start({ sandbox: { rename: { '/defects/create': { fields: { defect_id: 'id' } } } } });
    await open(1);
    await relay.work();
    expect((await ask(relay, 'done 101')).inTheEnd).toContain('Completed checklist item 101');
    await relay.workToTheEnd();
    expect(defects()).toHaveLength(1);
    expect((await relay.jobs('succeeded')).map(({ outcome }) => outcome)).toContain(
      `created defect ${defects()[0]?.defect_id}`,
    );
  });

  it('an operation that fails for one job continues for all others', async () => {
    await start();
    await open(6);
    await relay.work();
    relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival', operation: '/defects/update', times: 4 });
    await relay.post('issues', issueEvent('edited', { id: 1, seconds: 1, title: 'indigestible' }));
    await pass(2 * MINUTE);
    expect(requestsTo('/defects/update')).toBeGreaterThanOrEqual(3);
    for (let id = 2; id <= 6; id++) await relay.post('issues', issueEvent('edited', { id, seconds: 1, title: 'new' }));
    await relay.work();
    expect(defects().filter(({ title }) => title === 'new')).toHaveLength(5);
  });
});

describe('a connection that is down', () => {
  it.each<[string, Fault, number]>([
    ['by one call that the key is refused', { kind: 'key-revoked' }, 2],
    ['by one page instead of an answer', { kind: 'maintenance' }, 2],
    ['by two calls in a row without an answer', { kind: 'cut', when: 'on arrival' }, 3],
  ])('a connection that is down is detected %s, and then not called', async (_, fault, requests) => {
    await start();
    relay.sandbox.setFault(fault);
    await open(5);
    await relay.work();
    expect(relay.sandbox.requests).toBe(requests);
    await relay.sweep();
    expect(relay.metrics.findLast((record) => 'ConnectionPaused' in record)).toMatchObject({ ConnectionPaused: 1 });
    relay.sandbox.clearFaults();
    await relay.workToTheEnd();
    expect(defects()).toHaveLength(5);
  });

  it("a person's command probes early and reopens the connection for all", async () => {
    await start();
    relay.sandbox.setFault({ kind: 'key-revoked' });
    await open(5);
    await pass(20 * MINUTE);
    relay.sandbox.clearFaults();
    const before = relay.clock.now;
    expect((await ask(relay, 'done 101')).inTheEnd).toContain('Completed checklist item 101');
    expect(relay.clock.now - before).toBeLessThan(15 * SECOND);
    await pass(2 * MINUTE);
    expect(defects()).toHaveLength(5);
  });

  it("people's commands probe at most once in ten seconds", async () => {
    await start();
    relay.sandbox.setFault({ kind: 'key-revoked' });
    await command(relay, 'done 101');
    await pass(5 * MINUTE);
    const before = relay.sandbox.requests;
    for (let times = 0; times < 30; times++) {
      await command(relay, 'done 101', { triggerId: `trigger ${times}` });
      await relay.work();
    }
    expect(relay.sandbox.requests - before).toBeLessThanOrEqual(1);
  });
});
