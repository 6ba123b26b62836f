import { describe, expect, it } from 'vitest';
import { isOutcomeUnknown } from '../../lib/engine/record/job.ts';
import type { Fault } from '../../sandbox/faults.ts';
import { issueEvent } from '../issue-events.ts';
import { startRelay, type TestRelay } from '../relay.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const JOBS = 12;

let relay: TestRelay;
let seeded: number;

async function start(): Promise<void> {
  relay = await startRelay();
  seeded = relay.sandbox.data.defects.length;
}

const defects = () => relay.sandbox.data.defects.slice(seeded);
/** The connection's newest metrics. */
const connectionMetrics = () => relay.metrics.findLast((record) => record.Connection === 'main');
const requestsTo = (operation: string) => relay.sandbox.audit.filter(({ endpoint }) => endpoint === operation).length;

async function open(count: number, from = 1): Promise<void> {
  for (let id = from; id < from + count; id++) await relay.post('issues', issueEvent('opened', { id }));
}

/** Lets minutes pass: every five seconds the workers work, and every minute the sweep runs. */
async function pass(minutes: number): Promise<void> {
  for (const end = relay.clock.now + minutes * MINUTE; relay.clock.now < end; ) {
    relay.clock.now += 5 * SECOND;
    if (relay.clock.now % MINUTE < 5 * SECOND) await relay.sweep();
    await relay.work();
  }
}

describe('a connection that fails as a whole', () => {
  // The last column is the number of creations that were sent during the outage and whose outcome is unknown.
  it.each<[string, Fault, number]>([
    ['its key is revoked', { kind: 'key-revoked' }, 0],
    ['a maintenance page', { kind: 'maintenance' }, 1],
    ['a login page', { kind: 'login-redirect' }, 1],
    ['every connection is cut', { kind: 'cut', when: 'on arrival' }, 1],
  ])('jobs wait for one probe at a time, and resume automatically: %s', async (_, fault, lost) => {
    await start();
    // Created before the outage, so that there is something to update, too.
    await relay.post('issues', issueEvent('opened', { id: JOBS + 1 }));
    await relay.work();
    relay.clock.now += MINUTE;

    relay.sandbox.setFault(fault);
    const before = relay.sandbox.requests;
    await open(JOBS);
    await relay.post('issues', issueEvent('edited', { id: JOBS + 1, seconds: 1, title: 'changed' }));
    await pass(45);
    // The calls under way at its beginning, then probes after 0, 2, 5, 15, 40 and 120 s, and every five minutes.
    expect(relay.sandbox.requests - before).toBeLessThan(20);
    expect(connectionMetrics()).toMatchObject({ ConnectionPaused: 1 });

    relay.sandbox.clearFaults();
    await relay.workToTheEnd();
    await relay.sweep();
    const parked = await relay.jobs('parked');
    expect(parked.filter((job) => !isOutcomeUnknown(job))).toEqual([]);
    expect(parked.length).toBeLessThanOrEqual(lost);
    expect(defects()).toHaveLength(JOBS + 1 - parked.length);
    expect(defects().map((defect) => defect.title)).toContain('changed');
    expect(connectionMetrics()).toMatchObject({ ConnectionPaused: 0 });
  });
});

describe('an operation that fails alone', () => {
  it('is called by one job at a time, after growing pauses', async () => {
    await start();
    await open(20);
    await relay.work();
    relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival', operation: '/defects/update' });
    for (let id = 1; id <= 20; id++) await relay.post('issues', issueEvent('edited', { id, seconds: 1, title: 'new' }));
    await pass(15);
    // Three calls open the breaker. Probes follow after 0, 2, 5, 15, 40, 120 and 300 s, and up to a minute later.
    expect(requestsTo('/defects/update')).toBeLessThanOrEqual(3 + 8);
    expect(await relay.jobs('parked')).toEqual([]);
    expect(relay.metrics.filter((record) => record.OperationsStopped === 1).length).toBeGreaterThan(10);

    relay.sandbox.clearFaults();
    await pass(7);
    expect(defects().map(({ title }) => title)).toEqual(Array(20).fill('new'));
    expect(connectionMetrics()).toMatchObject({ OperationsStopped: 0 });
  });
});

describe('creations while their operation answers 500', () => {
  // Three calls open the breaker. While the pauses are short, one of these jobs probes; then others do, after 40, 120
  // and 300 s. If the service keeps the nonce of a request that it does not carry out, the same bytes show nothing, so
  // each probe is another job's: after 0, 2, 5, 15, 40, 120 and 300 s.
  it.each([
    ['on arrival', 3 + 3],
    ['before work', 3 + 7],
    ['after work', 0],
  ] as const)(
    'wait unsent, apart from a few, and are carried out once the operation works again: %s',
    async (when, mostParked) => {
      await start();
      relay.sandbox.setFault({ kind: 'server-error', when, operation: '/defects/create' });
      await open(40);
      await pass(10);
      relay.sandbox.clearFaults();
      await pass(7);
      await relay.workToTheEnd();
      const parked = await relay.jobs('parked');
      expect(parked.length).toBeLessThanOrEqual(mostParked);
      expect(parked.filter((job) => !isOutcomeUnknown(job))).toEqual([]);
      expect(defects()).toHaveLength(40 - parked.length);
    },
  );

  it('are sent again after they were sent once, if the operation works within four minutes', async () => {
    await start();
    relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival', operation: '/defects/create' });
    await open(40);
    await pass(2);
    relay.sandbox.clearFaults();
    await relay.workToTheEnd();
    expect(defects()).toHaveLength(40);
    expect(await relay.jobs('parked')).toEqual([]);
  });
});

describe('a job that gets a 429', () => {
  it('stops the connection once, then waits alone while others continue, and is parked after eight attempts', async () => {
    await start();
    await open(1);
    await relay.work();
    relay.sandbox.setFault({ kind: 'rate-limited', operation: '/defects/update' });
    await relay.post('issues', issueEvent('edited', { id: 1, seconds: 1, title: 'changed' }));
    const begin = relay.clock.now;
    let issues = 1;
    while ((await relay.jobs('parked')).length === 0 && relay.clock.now < begin + 60 * MINUTE) {
      issues++;
      await open(1, issues);
      await relay.work();
      relay.clock.now += 20 * SECOND;
      await relay.sweep();
    }
    const [parked] = await relay.jobs('parked');
    expect(parked?.parked?.reason).toMatch(/^defects\/update: .*429.*, while it took other calls \(8 attempts\)$/);
    expect(requestsTo('/defects/update')).toBeLessThanOrEqual(2 + 8);
    expect(defects().length).toBeGreaterThanOrEqual(issues - 10);
    // Two pauses of one minute each.
    expect(relay.metrics.filter((record) => record.ConnectionPaused === 1).length).toBeLessThanOrEqual(2 * 4);
  });
});
