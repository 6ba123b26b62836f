import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { readHealth } from '../../lib/service/connection/breaker-item.ts';
import { keys } from '../../lib/state/table/keys.ts';
import type { Fault } from '../../sandbox/faults.ts';
import { defaultKey } from '../../sandbox/sandbox.ts';
import { issueEvent } from '../issue-events.ts';
import { startRelay, type TestRelay } from '../relay.ts';
import { ask, command, PLATFORM } from '../slack-requests.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay();
});

const newsOfCalls = () => relay.log.flatMap(({ message }) => (/^calls are/.test(String(message)) ? [message] : []));

async function open(count: number, from = 1): Promise<void> {
  for (let id = from; id < from + count; id++) await relay.post('issues', issueEvent('opened', { id }));
}

/** Lets time pass: every five seconds the workers work, and every minute the sweep runs. */
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

  it.each(faults)('stops nothing else, uses up attempts, and its jobs park: %s', async (_, fault) => {
    await open(1);
    await relay.work();
    relay.sandbox.setFault(fault);
    await relay.post('issues', issueEvent('edited', { id: 1, seconds: 1, title: 'changed' }));
    await open(8, 2);
    await relay.work();
    expect(relay.defects()).toHaveLength(9);
    expect((await ask(relay, 'done 101')).inTheEnd).toContain('Completed checklist item 101');

    await relay.workToTheEnd();
    const [parked, ...others] = await relay.jobs('parked');
    expect(others).toEqual([]);
    expect(parked?.parked).toMatchObject({ reason: expect.stringMatching(/^defects\/update: .* \(8 attempts\)$/) });
    const paused = relay.metrics.map((record) => record.ConnectionPaused).filter((value) => value !== undefined);
    expect(new Set(paused)).toEqual(new Set([0]));
    const failures = relay.log.filter(({ message }) => message === 'step failed');
    expect(failures).not.toEqual([]);
    expect(relay.metrics.filter(({ StepsFailed }) => StepsFailed)).toHaveLength(failures.length);
  });

  it('an unreadable answer of one operation does not stop other operations', async () => {
    relay = await startRelay({ sandbox: { rename: { '/defects/create': { fields: { defect_id: 'id' } } } } });
    await open(1);
    await relay.work();
    expect((await ask(relay, 'done 101')).inTheEnd).toContain('Completed checklist item 101');
    await relay.workToTheEnd();
    expect(relay.defects()).toHaveLength(1);
    expect((await relay.jobs('succeeded')).map(({ outcome }) => outcome)).toContain(
      `created defect ${relay.defects()[0]?.defect_id}`,
    );
  });

  it('an operation that refuses the key is stopped alone, and the connection does not count as refused', async () => {
    const fetch: typeof globalThis.fetch = async (input, init) => {
      // While the connection is probed, its state is unknown, even if that takes long.
      if (String(input).endsWith('/validate')) {
        await relay.sweep();
        relay.clock.now += 4 * SECOND;
        await command(relay, 'done 101');
        await relay.work();
      }
      return globalThis.fetch(input, init);
    };
    relay = await startRelay({ runtime: { fetch } });
    await open(5);
    await relay.work();
    relay.sandbox.setFault({ kind: 'maintenance', status: 401, operation: '/defects/update' });
    for (let id = 1; id <= 5; id++) await relay.post('issues', issueEvent('edited', { id, seconds: 1, title: 'new' }));
    await pass(5 * MINUTE);
    const stops = relay.metrics.flatMap(({ ConnectionPaused = 0, NewlyRefused = 0 }) => [
      ConnectionPaused,
      NewlyRefused,
    ]);
    expect(new Set(stops)).toEqual(new Set([0]));
    relay.sandbox.clearFaults();
    await relay.workToTheEnd();
    expect(relay.defects().every(({ title }) => title === 'new')).toBe(true);
    expect(newsOfCalls()).toEqual(['calls are stopped', 'calls are sent again']);
    expect(relay.told().join()).not.toContain('key');
  });

  it('an operation that fails for one job continues for all others', async () => {
    await open(6);
    await relay.work();
    relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival', operation: '/defects/update', times: 4 });
    await relay.post('issues', issueEvent('edited', { id: 1, seconds: 1, title: 'indigestible' }));
    await pass(2 * MINUTE);
    expect(relay.requestsTo('/defects/update')).toBeGreaterThanOrEqual(3);
    for (let id = 2; id <= 6; id++) await relay.post('issues', issueEvent('edited', { id, seconds: 1, title: 'new' }));
    await relay.work();
    expect(relay.defects().filter(({ title }) => title === 'new')).toHaveLength(5);
  });
});

it('jobs with a lost answer wait for a late probe of another job, and are not queued again all the time', async () => {
  relay.sandbox.setFault({ kind: 'cut', when: 'after work', operation: '/defects/create' });
  relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival', operation: '/defects/list' });
  for (let id = 1; id < 3; id++) {
    await open(1, id);
    await relay.work();
    relay.clock.now += 2.5 * SECOND;
  }
  await command(relay, 'defect Login fails', { channelId: PLATFORM });
  for (const end = relay.clock.now + MINUTE; relay.clock.now < end; relay.clock.now += 1.5 * SECOND) await relay.work();
  expect((await relay.jobs()).map(({ status }) => status)).toEqual(['waiting', 'waiting', 'waiting']);
  relay.sandbox.clearFaults();
  await relay.workToTheEnd();
  expect(relay.defects()).toHaveLength(3);
  expect(await relay.jobs('succeeded')).toHaveLength(3);
});

it('jobs that wait for an operation are in its line, do not run while it fails, and are called in order when it works', async () => {
  relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival', operation: '/defects/create' });
  await open(12);
  await pass(2 * MINUTE);
  const standing = (await relay.jobs('waiting')).filter(({ line }) => line === 'main#background#defects/create');
  expect(standing.length).toBeGreaterThanOrEqual(8);
  await pass(5 * MINUTE);
  const generations = new Map((await relay.jobs()).map(({ id, generation }) => [id, generation]));
  // All but the few jobs that were called to probe.
  expect(standing.filter(({ id, generation }) => generations.get(id) !== generation).length).toBeLessThanOrEqual(3);

  relay.sandbox.clearFaults();
  await relay.workToTheEnd();
  const ended = (await relay.jobs('succeeded')).filter(({ id }) => standing.some((one) => one.id === id));
  const inOrder = ended.toSorted((a, b) => a.wakeAt - b.wakeAt);
  // The job that probed comes first.
  expect(inOrder.slice(1).map(({ createdAt }) => createdAt)).toEqual(
    inOrder
      .slice(1)
      .map(({ createdAt }) => createdAt)
      .toSorted((a, b) => a - b),
  );
});

it('a creation without an answer is not left to a person while other jobs try its operation, for at most an hour', async () => {
  relay.sandbox.setFault({ kind: 'cut', when: 'on arrival', operation: '/defects/create' });
  const parked: number[] = [];
  for (let id = 1; id <= 90; id += 10) {
    await open(2, id);
    await pass(10 * MINUTE);
    parked.push((await relay.jobs('parked')).length);
  }
  // The first two have ended before any other job tries.
  expect(parked.slice(0, 8)).toEqual(Array(8).fill(2));
  expect(parked[8]).toBeGreaterThan(2);
});

describe('a connection that is down', () => {
  it('does not result from three lost answers in a row: after an inconclusive probe, another job probes at once', async () => {
    // The first requests of three jobs. Each sends the same bytes again, which the service has seen.
    for (const skip of [0, 2, 4])
      relay.sandbox.setFault({ kind: 'cut', when: 'on answer', operation: '/defects/create', skip, times: 1 });
    await open(8);
    await pass(15 * SECOND);
    expect(relay.defects()).toHaveLength(8);
  });

  it('does not result from lost answers: if some answers are lost, nothing stops', async () => {
    for (let skip = 0; skip < 40; skip += 4) relay.sandbox.setFault({ kind: 'cut', when: 'on answer', skip, times: 1 });
    await open(30);
    await pass(MINUTE);
    expect(relay.defects()).toHaveLength(30);
    expect(newsOfCalls()).toEqual([]);
  });

  it.each<[string, Fault, number]>([
    ['one call that says that the key is refused', { kind: 'key-revoked' }, 1],
    ['three calls in a row that get a page instead of an answer', { kind: 'maintenance' }, 3],
    ['three calls in a row that get a page with 404', { kind: 'maintenance', status: 404 }, 3],
    ['three calls in a row without an answer', { kind: 'cut', when: 'on arrival' }, 3],
  ])('a connection that is down is detected by %s, and is then not called', async (_, fault, calls) => {
    relay.sandbox.setFault(fault);
    await open(5);
    await relay.work();
    // One probe at once, and another two seconds later.
    expect(relay.sandbox.requests).toBe(calls + 2);
    await relay.sweep();
    expect(relay.metrics.findLast((record) => 'ConnectionPaused' in record)).toMatchObject({ ConnectionPaused: 1 });
    relay.sandbox.clearFaults();
    await relay.workToTheEnd();
    expect(relay.defects()).toHaveLength(5);
    expect(newsOfCalls()).toEqual(['calls are stopped', 'calls are sent again']);
  });

  it.each([0, 10, 600])('the next probe uses the new key, entered %i s after the refusal', async (after) => {
    relay.sandbox.keys.splice(0, 1);
    await open(5);
    await pass(after * SECOND);
    const next = { ...defaultKey, apiKey: 'pk_next', secretKey: 'sk_next' };
    relay.sandbox.keys.push(next);
    relay.stack.secrets.put(`${relay.stack.secretPrefix}partner/main`, { baseUrl: relay.sandbox.url, ...next });
    const before = relay.sandbox.audit.length;
    await pass(5 * MINUTE);
    expect(relay.defects()).toHaveLength(5);
    const refused = relay.sandbox.audit.slice(before).filter(({ status }) => status === 401);
    expect(refused.length).toBeLessThanOrEqual(1);
  });

  it("a person's command probes early, and reopens the connection for everyone", async () => {
    relay.sandbox.setFault({ kind: 'key-revoked' });
    await open(5);
    await pass(20 * MINUTE);
    relay.sandbox.clearFaults();
    const before = relay.clock.now;
    expect((await ask(relay, 'done 101')).inTheEnd).toContain('Completed checklist item 101');
    expect(relay.clock.now - before).toBeLessThan(15 * SECOND);
    await pass(2 * MINUTE);
    expect(relay.defects()).toHaveLength(5);
  });

  it.each<[string, number, boolean]>([
    ['the only one', 0, false],
    ['beside a backlog', 12, false],
    ['beside a backlog that has probed for long', 12, true],
  ])('is probed every 20 s while a person waits, one probe at a time: %s', async (_, backlog, isOld) => {
    relay.sandbox.setFault({ kind: 'maintenance' });
    await open(backlog);
    await pass(isOld ? 20 * MINUTE : 10 * SECOND);
    await command(relay, 'done 101');
    await pass(MINUTE);
    for (let minute = 0; minute < 5; minute++) {
      for (let third = 0; third < 3; third++) {
        const before = relay.sandbox.requests;
        await pass(20 * SECOND);
        expect(relay.sandbox.requests - before).toBeGreaterThanOrEqual(1);
        expect(relay.sandbox.requests - before).toBeLessThanOrEqual(2);
      }
    }
    relay.sandbox.clearFaults();
    await pass(20 * SECOND);
    expect((await relay.jobs('succeeded')).map(({ outcome }) => outcome)).toContain('completed checklist item 101');
  });

  it("is probed less often after an hour, even if people wait: a day's probes leave most of its budget", async () => {
    relay.sandbox.setFault({ kind: 'key-revoked' });
    await command(relay, 'done 101');
    await pass(70 * MINUTE);
    const before = relay.sandbox.requests;
    await pass(20 * MINUTE);
    expect(relay.sandbox.requests - before).toBeGreaterThanOrEqual(15);
    expect(relay.sandbox.requests - before).toBeLessThanOrEqual(25);
  });

  describe('shows since when', () => {
    const since = async () => {
      const { breakers } = (await relay.stores.table.get(keys.breaker('main'))) ?? {};
      return (breakers as Record<string, { since: number }>).connection?.since ?? 0;
    };

    it.each<[string, Fault]>([
      ['a page', { kind: 'maintenance' }],
      ['no answer', { kind: 'cut', when: 'on arrival' }],
    ])('without the lost answer of one call before the outage: %s', async (_, fault) => {
      relay.sandbox.setFault({ kind: 'cut', when: 'on answer', operation: '/tasks/create', times: 1 });
      await ask(relay, 'task "Write the report"');
      await relay.work();
      await pass(4 * MINUTE);
      const began = relay.clock.now;
      relay.sandbox.setFault(fault);
      await open(5);
      await pass(10 * SECOND);
      expect(await since()).toBeGreaterThanOrEqual(began);
    });

    it('a key is refused, rather than since the outage before it', async () => {
      relay.sandbox.setFault({ kind: 'maintenance' });
      const began = relay.clock.now;
      await open(5);
      await pass(3 * MINUTE);
      expect(await since()).toBeLessThan(began + MINUTE);
      relay.sandbox.clearFaults();
      const refused = relay.clock.now;
      relay.sandbox.setFault({ kind: 'key-revoked' });
      await pass(6 * MINUTE);
      expect(await since()).toBeGreaterThanOrEqual(refused);
      const first = await since();
      await pass(6 * MINUTE);
      expect(await since()).toBe(first);
    });
  });

  it("people's commands probe at most once in ten seconds", async () => {
    relay.sandbox.setFault({ kind: 'key-revoked' });
    await command(relay, 'done 101');
    await pass(5 * MINUTE);
    const before = relay.sandbox.requests;
    for (let times = 0; times < 30; times++) {
      await ask(relay, 'done 101', { triggerId: `trigger ${times}` });
    }
    expect(relay.sandbox.requests - before).toBeLessThanOrEqual(1);
  });
});

describe('an item that the relay did not write', () => {
  const far = { why: 'x', since: 0, failures: 9, callers: [], workedAt: 0, probes: 5, probedAt: 0, prober: 'x' };
  it.each([
    ['no version', 'REMOVE #version', {}],
    ['a version beyond all numbers', 'SET #version = :value', { value: 1e100 }],
    [
      'breakers that never end, lines of text',
      'SET #version = :text, #breakers = :breakers, #lined = :text, #servedAgain = :text, #isLimited = :text',
      { text: 'x', breakers: { connection: { ...far, until: 8e15 }, 'defects/create': 'x', 'defects/list': null } },
    ],
  ])('stops nothing for longer, and the line continues: %s', async (_, expression, values) => {
    relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival', operation: '/defects/create' });
    await open(5);
    await relay.work();
    expect((await relay.jobs('waiting')).some(({ line }) => line?.includes('defects/create'))).toBe(true);
    await relay.stores.table.update(keys.breaker('main'), { expression, values });
    relay.sandbox.clearFaults();
    await pass(3 * MINUTE);
    expect(relay.defects()).toHaveLength(5);
  });

  it('is read whatever it contains, without impossible values', () => {
    const now = 1.8e12;
    fc.assert(
      fc.property(fc.object({ maxDepth: 3, key: fc.constantFrom('breakers', 'lined', 'version', 'until') }), (item) => {
        const { health } = readHealth({ pk: 'a', sk: 'b', ...item }, now);
        expect(readHealth({ pk: 'a', sk: 'b', ...health }, now)).toEqual({ health, faults: [] });
      }),
    );
  });
});
