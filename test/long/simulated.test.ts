import { expect, it } from 'vitest';
import { A_CALL } from '../figures/ceilings.ts';
import { mostWithin, quantile } from '../service/budget/figures.ts';
import { alarmsOf } from '../simulation/alarms.ts';
import { countedIn, figuresOf, waitsForLast, waitsOf, waitsOfPeople } from '../simulation/figures.ts';
import { expectQuickAndCheap, simulateKeepingPromises } from '../simulation/keeps-its-promises.ts';
import { type Call, simulate } from '../simulation/simulation.ts';
import * as loads from '../simulation/workloads.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../simulation/workloads.ts';

/** The backlog has spread over the minute by then, and the budget has seen what people use. */
const isAfterStart = ({ wantedAt }: Call) => wantedAt > 2 * MINUTE;
const p99Of = (waits: readonly number[]) => quantile([...waits], 0.99);

/** What an ideal use of the limit reaches: docs/decisions/0008-exact-budget.md. */
const MOST_OF_LIMIT = 0.966;

/** With five workers, an event may find all of them at calls of the backfill, which take two seconds here at most. */
it.each([
  { workers: 45, laterMs: 1_000 },
  { workers: 5, laterMs: 4_000 },
])(
  'people and events hardly wait longer beside a backfill, which uses what they leave, with 5+$workers workers',
  async ({ workers, laterMs }) => {
    const without = await simulateKeepingPromises(loads.besideBackfill(workers, false, 1));
    const { result, figures } = await simulateKeepingPromises(loads.besideBackfill(workers, true, 1));
    const ofEvents = (calls: typeof result.calls) => p99Of(waitsOf(calls, ({ lane }) => lane === 'background'));
    expect.soft(result.calls.filter(({ lane }) => lane === 'backfill')).toHaveLength(loads.BACKFILLED);
    expect.soft(figures.people.p99Ms, 'wait of people (p99)').toBeLessThan(without.figures.people.p99Ms + 200);
    expect.soft(ofEvents(result.calls), 'wait of events').toBeLessThan(ofEvents(without.result.calls) + laterMs);
    // One to three slots stay free for people's commands.
    for (const part of figures.used.main?.slice(0, 2) ?? [])
      expect.soft(part).toBeGreaterThanOrEqual(0.94 * MOST_OF_LIMIT);
  },
);

// The first ten minutes are the hardest: the first burst takes a minute's limit at once. Then every ten are alike. No
// sliding minute has more calls than the limit, and so no calendar minute, nor one that begins with a request.
it.each([5, 45])('uses the limit with 5+%i workers', async (workers) => {
  const { figures } = await simulateKeepingPromises(loads.backlogWithPeople('sliding', workers, 20 * MINUTE, 1));
  for (const part of figures.used.main ?? []) expect.soft(part).toBeGreaterThanOrEqual(0.95);
  expectQuickAndCheap(figures);
  // docs/scale.md computes its ceilings from them. The more workers there are, the longer each waits for its slot.
  const { workerSecondsPerCall, indexUnitsPerCall, writeUnitsPerCall, receivesPerCall } = figures;
  if (workers === 5) expect.soft(workerSecondsPerCall / A_CALL.workerSeconds).toBeLessThan(1.1);
  expect.soft(indexUnitsPerCall / A_CALL.indexUnits).toBeLessThan(1.1);
  expect.soft(writeUnitsPerCall / A_CALL.writeUnits).toBeLessThan(1.1);
  expect.soft(receivesPerCall / A_CALL.receives).toBeLessThan(1.1);
});

it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
  'uses each minute from the first call on, with nobody but the issues of 16 senders: start %i',
  async (seed) => {
    const { figures } = await simulateKeepingPromises(loads.issuesOfSenders(700, 6 * MINUTE, seed));
    expect.soft(Math.min(...figures.inMinutes), 'calls in a minute').toBeGreaterThanOrEqual(114);
    const inFive = figures.inMinutes.slice(0, 5).reduce((sum, calls) => sum + calls, 0);
    expect.soft(inFive, 'calls in the first five minutes').toBeGreaterThanOrEqual(575);
  },
);

it.each([
  [2, 4_000],
  // The aim is 6 s; docs/scale.md says what stands in its way.
  [4, 8_000],
])(
  'ends ten commands a minute of %i calls behind a backlog within %i ms, and uses the limit',
  async (count, mostMs) => {
    const waits: number[] = [];
    let used = 0;
    let usable = 0;
    // Together, because the slowest of a hundred commands alone says little.
    for (const seed of [1, 2, 3]) {
      const load = loads.commandsOf(count, seed);
      const { calls, errors } = await simulate(load);
      expect.soft([...errors.keys()]).toEqual([]);
      waits.push(...waitsForLast(calls, isAfterStart));
      used += countedIn(calls, load, 'main', 10 * MINUTE)[0] ?? 0;
      usable += 10 * load.limits.perMinute;
    }
    expect.soft(p99Of(waits), 'last call (p99)').toBeLessThanOrEqual(mostMs);
    expect.soft(used / usable, 'part of the limit').toBeGreaterThanOrEqual(0.95);
  },
);

it.each([
  ['others send 40 calls a minute with the key', { othersPerMinute: 40 }],
  ['the real limit is half', { realPerMinute: 60 }],
])('learns what the service allows where %s', async (_, how) => {
  const { calls, errors } = await simulate(loads.fewerThanConfigured(how, 1));
  expect.soft([...errors.keys()]).toEqual([]);
  expect.soft(p99Of(waitsOfPeople(calls, isAfterStart)), 'wait of people (p99)').toBeLessThanOrEqual(10_000);
  expect.soft(calls.filter(({ status }) => status === 429).length, 'refused').toBeLessThan(8);
});

it('uses the limits of six connections at once', async () => {
  const load = loads.sixConnections(1);
  const { result, figures } = await simulateKeepingPromises(load);
  // In the last stretch of ten minutes the backlog comes to its end.
  const full = Math.floor(loads.ISSUES_OF_EACH / (10 * load.limits.perMinute));
  for (const parts of Object.values(figures.used)) {
    // From a cold start, all workers are busy for half a minute with the messages that are ahead of a connection's first.
    for (const [at, part] of parts.slice(0, full).entries()) {
      expect.soft(part).toBeGreaterThanOrEqual(at === 0 ? 0.93 : 0.95);
    }
  }
  expectQuickAndCheap(figures);
  expect.soft(result.jobs).toEqual({ succeeded: load.arrivals.length });
});

it('keeps and uses the limit of each of two days', async () => {
  const load = loads.twoDays(1);
  const { result, figures } = await simulateKeepingPromises(load);
  for (const calls of countedIn(result.calls, load, 'main', DAY)) {
    expect.soft(calls, 'calls in a day').toBeGreaterThanOrEqual(0.95 * load.limits.perDay);
  }
  const answered = result.calls.flatMap(({ sentAt, answeredAt }) => (answeredAt ? { sentAt, answeredAt } : []));
  expect.soft(mostWithin(answered, DAY), 'calls in any 24 hours').toBeLessThanOrEqual(load.limits.perDay);
  expectQuickAndCheap(figures);
});

it.each([0, 1_500])(
  "serves people's first commands at once while one person floods, over a backlog of %i issues",
  async (issues) => {
    const load = loads.flood(issues, 1);
    const { calls, errors, jobs } = await simulate(load);
    const waits = waitsOfPeople(calls, ({ person }) => person !== loads.FLOODER);
    const others = load.arrivals.filter(({ person }) => person !== undefined && person !== loads.FLOODER);
    expect.soft([...errors.keys()]).toEqual([]);
    expect.soft(jobs.parked ?? 0, 'parked jobs').toBe(0);
    expect.soft(waits.length, 'others who were served').toBe(others.length);
    expect.soft(p99Of(waits), 'wait of others (p99)').toBeLessThan(2_000);
  },
);

/** Lambda stops the next invocation after about so many. */
const ROUNDS = 16;

it("a long backlog goes on where Lambda's guard against loops would stop its messages", async () => {
  const load = loads.longBacklog(false, 1);
  const { result, figures } = await simulateKeepingPromises(load);
  expect(figures.longestChain).toBeGreaterThan(ROUNDS);
  expect([...alarmsOf(result, load.runsMs).keys()]).toEqual([]);
  const stopped = await simulate(loads.longBacklog(true, 1));
  expect(stopped.mostRounds).toBe(ROUNDS);
  expect(stopped.deadLetters).not.toEqual([]);
});

it.each([5, -5])('keeps the limit with a worker whose clock is %i hours off', async (hours) => {
  const load = loads.wrongClock(hours * HOUR, 1);
  expect(figuresOf(await simulate(load), load).mostInMinute).toBeLessThanOrEqual(load.limits.perMinute);
});

it.each([
  [5_000, 1],
  [2_000, 30],
  [2_000, 600],
])(
  'serves the first person at once after an outage of six hours with %i issues: %i s later',
  async (issues, seconds) => {
    const { figures } = await simulateKeepingPromises(loads.afterOutage(issues, seconds * SECOND, 1));
    expect(figures.people.mostMs).toBeLessThan(5_000);
  },
);

it('sweeps 5,000 jobs that are due at the same moment', async () => {
  const { result } = await simulateKeepingPromises(loads.dueTogether(1));
  expect(result.jobs).toEqual({ 'not-done': 5_000 });
});

it('is not refused where a gateway holds calls for longer than the relay waits', async () => {
  const { figures } = await simulateKeepingPromises(loads.heldCalls(1));
  // The slowest is one whose own call was held, several times for some seeds.
  expect(figures.people.p50Ms).toBeLessThan(1_000);
  expect(figures.people.mostMs).toBeLessThan(120_000);
});

it.each<[number, number, number, number]>([
  [0.1, 60, 120, 40],
  [0.3, 60, 120, 60],
  // The aim is 45 s. Five workers need most of that for the calls alone, and chance decides about the rest.
  [0.2, 150, 6_000, 50],
])(
  'sends all where %f of the answers are lost: %i issues, limit %i, within %i s',
  async (part, issues, limit, seconds) => {
    const { result, figures } = await simulateKeepingPromises(loads.lostAnswers(part, issues, limit, 1));
    expect(figures.jobs).toEqual({ succeeded: issues });
    expect(Math.max(...waitsOf(result.calls, () => true))).toBeLessThan(seconds * SECOND);
  },
);

it('an operation that fails for 1,500 jobs costs the other connection nothing', async () => {
  // The 1,500 messages that come at once are in the way of everything, whatever becomes of them.
  const ofOther = async (fails: boolean) => {
    const { calls } = await simulate(loads.failingOperation(fails, 1));
    return p99Of(waitsOf(calls, (call) => call.connection === 'other' && isAfterStart(call)));
  };
  expect(await ofOther(true)).toBeLessThanOrEqual(1.2 * (await ofOther(false)));
});

it('goes on with a backlog after AWS did not answer for five minutes', async () => {
  const { jobs } = await simulate(loads.silentAws(5 * MINUTE, 1));
  expect(jobs).toEqual({ succeeded: 600 });
});

it('a job that always meets 429 is parked, and people hardly wait for it', async () => {
  const { calls, jobs } = await simulate(loads.limitedJob(undefined, 1));
  expect(jobs.parked).toBe(1);
  expect(p99Of(waitsOfPeople(calls, ({ wantedAt }) => wantedAt > 5 * MINUTE))).toBeLessThan(2 * SECOND);
});
