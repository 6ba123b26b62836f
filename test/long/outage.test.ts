import { afterEach, describe, expect, it } from 'vitest';
import type { Fault } from '../../sandbox/faults.ts';
import { issueEvent } from '../issue-events.ts';
import { startRelay, type TestRelay } from '../relay.ts';

const MINUTE = 60_000;
const JOBS = 12;

let relay: TestRelay;
afterEach(() => relay.close());

/** So many minutes as they pass: whatever wakes is worked on, and the sweep runs. */
async function pass(minutes: number): Promise<void> {
  for (const end = relay.clock.now + minutes * MINUTE; relay.clock.now < end; relay.clock.now += MINUTE) {
    await relay.sweep();
    await relay.work();
  }
}

describe('a connection that fails as a whole', () => {
  // With the last column: creations that were sent into the outage, of which nobody can say what became.
  it.each<[string, Fault, number]>([
    ['its key is revoked', { kind: 'key-revoked' }, 0],
    ['a maintenance page', { kind: 'maintenance' }, 1],
    ['a login page', { kind: 'login-redirect' }, 1],
    ['every connection is cut', { kind: 'cut', when: 'on arrival' }, 1],
  ])('lets its jobs wait for one probe at a time, and everything goes on by itself: %s', async (_, fault, lost) => {
    relay = await startRelay();
    const seeded = relay.sandbox.data.defects.length;
    // Made before the outage, so that there is something to update too.
    await relay.post('issues', issueEvent('opened', { id: JOBS + 1 }));
    await relay.work();
    relay.clock.now += MINUTE;

    relay.sandbox.setFault(fault);
    const before = relay.sandbox.requests;
    for (let id = 1; id <= JOBS; id++) await relay.post('issues', issueEvent('opened', { id }));
    await relay.post('issues', issueEvent('edited', { id: JOBS + 1, seconds: 1, title: 'changed' }));
    await pass(45);
    // Those that were under way when it began, then probes after 30 s, 1 min, 2 min, … and at most every hour.
    expect(relay.sandbox.requests - before).toBeLessThan(20);
    expect(relay.metrics.at(-1)).toMatchObject({ Connection: 'main', ConnectionPaused: 1 });

    relay.sandbox.clearFaults();
    await relay.workToTheEnd();
    await relay.sweep();
    const parked = await relay.jobs('parked');
    expect(parked.filter((job) => !job.parked?.outcomeUnknown)).toEqual([]);
    expect(parked.length).toBeLessThanOrEqual(lost);
    const made = relay.sandbox.data.defects.slice(seeded);
    expect(made).toHaveLength(JOBS + 1 - parked.length);
    expect(made.map((defect) => defect.title)).toContain('changed');
    expect(relay.metrics.at(-1)).toMatchObject({ Connection: 'main', ConnectionPaused: 0 });
  });

  it('is not paused by one job that the service cannot digest', async () => {
    relay = await startRelay();
    const seeded = relay.sandbox.data.defects.length;
    await relay.post('issues', issueEvent('opened', { id: 1 }));
    await relay.work();
    relay.sandbox.setFault({ kind: 'server-error', when: 'before work', operation: '/defects/update' });
    await relay.post('issues', issueEvent('edited', { id: 1, seconds: 1, title: 'indigestible' }));
    await pass(20);
    for (let id = 2; id <= 4; id++) await relay.post('issues', issueEvent('opened', { id }));
    await relay.work();
    expect(relay.sandbox.data.defects).toHaveLength(seeded + 4);
  });
});
