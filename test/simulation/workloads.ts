import { faultJobs } from '../../lib/automations/answer-fault/jobs.ts';
import { workersOf } from '../../lib/config/capacity.ts';
import type { QueueName } from '../../lib/config/queues.ts';
import { RetryAt } from '../../lib/engine/record/interruption.ts';
import { type Counting, countings } from '../service/budget/service-model.ts';
import { seededRandom } from '../service/budget/virtual-time.ts';
import type { Arrival } from './arrivals.ts';
import { configOf, type Workload } from './simulation.ts';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** No person comes so late that the end of the simulation would interrupt their command. */
const LAST_MOMENTS_MS = 10 * SECOND;

/**
 * One connection with the service's limit per minute (docs/partner-api.md#limits), and difficult latencies. The limit
 * per day is very high, because an hour of full use would exceed it.
 */
function loadOf(arrivals: readonly Arrival[], runsMs: number, seed: number, backgroundWorkers = 5): Workload {
  return {
    limits: { perMinute: 120, perDay: 1_000_000 },
    latencyMs: [5, 2_000],
    seed,
    counting: 'sliding',
    connections: ['main'],
    workers: { interactive: 5, background: backgroundWorkers },
    arrivals,
    runsMs,
  };
}

/** This many issues at the same moment. */
export function backlog(issues: number, connection = 'main'): Arrival[] {
  return Array.from({ length: issues }, () => ({ connection, lane: 'background', atMs: 0 }));
}

/** Events at random times, with this many a minute on average. */
export function atRandom(
  lane: QueueName,
  perMinute: number,
  { untilMs, seed, connection = 'main' }: { untilMs: number; seed: number; connection?: string },
): Arrival[] {
  const random = seededRandom(seed);
  const arrivals: Arrival[] = [];
  for (let atMs = 0; ; ) {
    atMs -= Math.log(1 - random()) * (MINUTE / perMinute);
    if (atMs >= untilMs) return arrivals;
    arrivals.push({ connection, lane, atMs });
  }
}

/** People at random times. */
const people = (perMinute: number, runsMs: number, seed: number, connection = 'main'): Arrival[] =>
  atRandom('interactive', perMinute, { untilMs: runsMs - LAST_MOMENTS_MS, seed: seed + 1_000, connection });

/** A backlog that lasts longer than the simulation, and ten people a minute at random times. */
export function backlogWithPeople(
  counting: Counting,
  backgroundWorkers: number,
  runsMs: number,
  seed: number,
): Workload {
  const issues = Math.ceil(125 * (runsMs / MINUTE));
  const arrivals = [...backlog(issues), ...people(10, runsMs, seed)];
  return { ...loadOf(arrivals, runsMs, seed, backgroundWorkers), counting };
}

/** The pause between two issues of a sender, after the answer to the first. */
const SENDER_PAUSE_MS = 30;

/** Issues of 16 senders, and no people, so that no person's command moves the line. */
export function issuesOfSenders(issues: number, runsMs: number, seed: number): Workload {
  const atMs = (index: number) => Math.floor(index / 16) * SENDER_PAUSE_MS;
  const arrivals = backlog(issues).map((issue, index) => ({ ...issue, atMs: atMs(index) }));
  return { ...loadOf(arrivals, runsMs, seed), latencyMs: [5, 1_000] };
}

/** For workloads that take long with few calls. */
const fewCalls = { perMinute: 20, perDay: 1_000_000 };

/**
 * A backlog that lasts so long that Lambda would take it for a loop, with few calls. Each worker that moves the line
 * sends the messages of the next jobs.
 */
export function longBacklog(stopsLoops: boolean, seed: number): Workload {
  const arrivals = [...backlog(20 * 25), ...atRandom('interactive', 1, { untilMs: 20 * MINUTE, seed: seed + 1_000 })];
  return { ...loadOf(arrivals, 25 * MINUTE, seed), limits: fewCalls, stopsLoops };
}

/** A backlog with people. The clock of one worker is ahead or behind. */
export function wrongClock(aheadMs: number, seed: number): Workload {
  const arrivals = [...backlog(4 * 25), ...atRandom('interactive', 2, { untilMs: 3 * MINUTE, seed: seed + 1_000 })];
  return { ...loadOf(arrivals, 4 * MINUTE, seed), limits: fewCalls, wrongClockMs: aheadMs };
}

/** Events and people, while the worker does not run. */
export function noWorker(seed: number): Workload {
  return { ...calm(30 * MINUTE, seed), workers: { interactive: 0, background: 0 } };
}

/** Issues and commands, two a minute each, without troubles. */
export function calm(runsMs: number, seed = 1): Workload {
  const untilMs = runsMs - LAST_MOMENTS_MS;
  const arrivals = (['interactive', 'background'] as const).flatMap((lane) => atRandom(lane, 2, { untilMs, seed }));
  return loadOf(arrivals, runsMs, seed);
}

/** A backlog that lasts longer than the simulation, and ten commands a minute with several calls each. */
export function commandsOf(calls: number, seed: number): Workload {
  const load = backlogWithPeople('sliding', 5, 12 * MINUTE, seed);
  return { ...load, latencyMs: [5, 300], arrivals: load.arrivals.map((one) => ({ ...one, calls })) };
}

/** A backlog with people. The service accepts fewer calls than the configuration says. */
export function fewerThanConfigured(how: Pick<Workload, 'othersPerMinute' | 'realPerMinute'>, seed: number): Workload {
  return { ...backlogWithPeople('sliding', 5, 20 * MINUTE, seed), latencyMs: [5, 300], ...how };
}

/** The person who floods in {@link flood}. */
export const FLOODER = 'U0FLOOD';

/**
 * One person gives a command every 100 ms for five minutes, and other people give ten a minute at random times; with or
 * without a backlog.
 */
export function flood(issues: number, seed: number): Workload {
  const runsMs = 8 * MINUTE;
  const commands = Array.from({ length: 3_000 }, (_, index): Arrival => {
    return { connection: 'main', lane: 'interactive', atMs: 30 * SECOND + index * 100, person: FLOODER };
  });
  const others = atRandom('interactive', 10, { untilMs: runsMs - 30 * SECOND, seed: seed + 1_000 });
  const ofOthers = others.map((one, index) => ({ ...one, person: `U0OTHER${index}` }));
  // The fastest possible service: the whole minute is used up before the relay notices.
  return { ...loadOf([...backlog(issues), ...commands, ...ofOthers], runsMs, seed), latencyMs: [5, 30] };
}

/**
 * A backlog with people. A proxy holds part of the calls for longer than the relay waits for an answer. The last person
 * comes two minutes before the end, because while the connection counts as down, everyone waits for the next probe.
 */
export function heldCalls(seed: number): Workload {
  const load = backlogWithPeople('sliding', 45, 10 * MINUTE, seed);
  const arrivals = load.arrivals.filter(({ atMs }) => atMs < load.runsMs - 2 * MINUTE);
  return { ...load, arrivals, held: { part: 0.3, forMs: 30 * SECOND } };
}

/** Issues of each connection of {@link sixConnections}. */
export const ISSUES_OF_EACH = 1_250;

/** Six connections, each with a backlog and people. */
export function sixConnections(seed: number): Workload {
  const connections = ['one', 'two', 'three', 'four', 'five', 'six'];
  const runsMs = 13 * MINUTE;
  const arrivals = [
    ...connections.flatMap((connection) => backlog(ISSUES_OF_EACH, connection)),
    ...connections.flatMap((connection, index) => people(3, runsMs, seed + index, connection)),
  ];
  return { ...loadOf(arrivals, runsMs, seed, 45), connections };
}

/** The connection of {@link besideBusyTeams} with few events. */
export const QUIET = 'quiet';

/**
 * A quiet connection with ten events and five people a minute, beside connections with a backlog each.
 *
 * @param workers the number that the connections need by default, or five
 * @param slowestMs the longest answer of the service
 */
export function besideBusyTeams(busy: number, workers: 'derived' | 'five', slowestMs: number, seed: number): Workload {
  const runsMs = 6 * MINUTE;
  const noisy = Array.from({ length: busy }, (_, index) => `busy${index + 1}`);
  const untilMs = runsMs - MINUTE;
  const arrivals = [
    ...noisy.flatMap((connection) => backlog(ISSUES_OF_BUSY, connection)),
    ...atRandom('background', 10, { untilMs, seed: seed + 7, connection: QUIET }),
    ...atRandom('interactive', 5, { untilMs, seed: seed + 8, connection: QUIET }),
  ];
  const load = {
    ...loadOf(arrivals, runsMs, seed),
    latencyMs: [5, slowestMs],
    connections: [QUIET, ...noisy],
  } as const;
  return workers === 'five' ? load : { ...load, workers: workersOf(configOf({ ...load, workers: undefined })) };
}

/** Issues of each busy connection of {@link besideBusyTeams}: two and a half minutes of its limit. */
const ISSUES_OF_BUSY = 300;

/** Work for more than two days of a day's limit, with a person every 25 minutes. */
export function twoDays(seed: number): Workload {
  const arrivals = [...backlog(2_400), ...people(0.04, 2 * DAY, seed)];
  return { ...loadOf(arrivals, 2 * DAY, seed), limits: { perMinute: 120, perDay: 1_000 } };
}

/** When the outage of {@link afterOutage} ends. */
const OUTAGE_ENDS_MS = 6 * HOUR;

/** Issues come while the connection is down, and the first person comes some time after it works again. */
export function afterOutage(issues: number, firstPersonAfterMs: number, seed: number): Workload {
  const atMs = OUTAGE_ENDS_MS + firstPersonAfterMs;
  const arrivals = [...backlog(issues), { connection: 'main', lane: 'interactive' as const, atMs }];
  return { ...loadOf(arrivals, atMs + 3 * MINUTE, seed, 45), down: { fromMs: 0, untilMs: OUTAGE_ENDS_MS } };
}

/** AWS is silent for a time, soon after 600 issues have arrived. */
export function silentAws(forMs: number, seed: number): Workload {
  const aws = { trouble: 'silent', fromMs: MINUTE, untilMs: MINUTE + forMs } as const;
  return { ...loadOf(backlog(600), 20 * MINUTE + forMs, seed), aws };
}

/** When the pause of {@link shortPause} begins. */
const LIMITED_AT_MS = 30 * SECOND;

/** A few people and issues, while the service answers 429 and asks for a pause. */
export function shortPause(retryAfterSeconds: number, seed: number): Workload {
  const command = (person: string, afterMs: number): Arrival => {
    return { connection: 'main', lane: 'interactive', person, atMs: LIMITED_AT_MS + afterMs };
  };
  const arrivals = [
    // The first command gets a 429. The person's next commands are in the lane `further`.
    ...[0, 500, 700, 1_500, 2_500].map((afterMs) => command('U0SAME', afterMs)),
    ...[800, 2_000].map((afterMs) => command(`U0OTHER${afterMs}`, afterMs)),
    ...[900, 950].map((afterMs) => ({ ...command('', afterMs), lane: 'background' as const })),
  ];
  const limitedFor = { fromMs: 0, untilMs: LIMITED_AT_MS + retryAfterSeconds * SECOND, retryAfterSeconds };
  return { ...loadOf(arrivals, 2 * MINUTE, seed), latencyMs: [5, 300], limitedFor };
}

/** 5,000 jobs that wait for the same moment and make no call. */
export function dueTogether(seed: number): Workload {
  return {
    ...loadOf([], 10 * MINUTE, seed, 45),
    async prepare({ jobs }, startsAt) {
      const wait = new RetryAt(startsAt + 2 * MINUTE, 'of the simulation');
      const ids = Array.from({ length: 5_000 }, (_, index) => `due-${index}`);
      await Promise.all(
        ids.map(async (id) => {
          const place = { connection: 'main', lane: 'background', entity: id } as const;
          await jobs.store({ ...place, id, automation: faultJobs.name, summary: id, input: { fault: 'none' } });
          const job = await jobs.claim(id, 1, 'the simulation', startsAt + MINUTE);
          if ('unclaimed' in job) throw new Error(`${id} cannot be claimed: ${job.unclaimed}`);
          await jobs.wait(job, wait, 'leaves', { attempts: 0 });
        }),
      );
    },
  };
}

/** The issues of {@link besideBackfill}. */
export const BACKFILLED = 1_200;

/** Events and people at random times, ten a minute each, with or without a backfill. */
export function besideBackfill(workers: number, hasBackfill: boolean, seed: number): Workload {
  const runsMs = 20 * MINUTE;
  const events = atRandom('background', 10, { untilMs: runsMs - LAST_MOMENTS_MS, seed: seed + 2_000 });
  const load = loadOf([...people(10, runsMs, seed), ...events], runsMs, seed, workers);
  return hasBackfill ? { ...load, backfill: BACKFILLED } : load;
}

/** Many issues at once, while part of the answers is lost. */
export function lostAnswers(part: number, issues: number, perMinute: number, seed: number): Workload {
  const limits = { perMinute, perDay: 1_000_000 };
  return { ...loadOf(backlog(issues), 5 * MINUTE, seed), limits, latencyMs: [300, 1_000], lost: part };
}

/** A backlog with people at half of the limit, and a job that always gets a 429. */
export function limitedJob(seed: number): Workload {
  const arrivals = [...backlog(60 * 60), ...people(5, HOUR, seed)];
  const limits = { perMinute: 60, perDay: 1_000_000 };
  return { ...loadOf(arrivals, HOUR, seed), limits, limitsFirstJob: true };
}

/** 1,500 jobs for an operation that fails or not, beside events and people of another connection. */
export function failingOperation(fails: boolean, seed: number): Workload {
  const [runsMs, connection] = [30 * MINUTE, 'other'];
  const events = atRandom('background', 10, { untilMs: runsMs - LAST_MOMENTS_MS, seed: seed + 1_000, connection });
  const arrivals = [...backlog(1_500), ...events, ...people(3, runsMs, seed + 1_000, connection)];
  const load = { ...loadOf(arrivals, runsMs, seed), connections: ['main', connection] };
  return fails ? { ...load, failing: { connection: 'main', operation: 'defects/create' } } : load;
}

/** All workloads by name. */
export const workloads: Readonly<Record<string, (seed: number) => Workload>> = {
  ...ofEach([5, 45], (workers) => ({
    ...ofEach(countings, (counting) => ({
      [`10 min, 5+${workers}, ${counting}`]: (seed) => backlogWithPeople(counting, workers, 10 * MINUTE, seed),
    })),
    [`hour, 5+${workers}`]: (seed) => backlogWithPeople('sliding', workers, HOUR, seed),
    [`events beside a backfill, 5+${workers}`]: (seed) => besideBackfill(workers, true, seed),
    [`events beside no backfill, 5+${workers}`]: (seed) => besideBackfill(workers, false, seed),
  })),
  'issues of 16 senders': (seed) => issuesOfSenders(700, 6 * MINUTE, seed),
  'long backlog': (seed) => longBacklog(false, seed),
  "long backlog, with Lambda's guard": (seed) => longBacklog(true, seed),
  'no worker': noWorker,
  'a clock five hours ahead': (seed) => wrongClock(5 * HOUR, seed),
  'a clock five hours behind': (seed) => wrongClock(-5 * HOUR, seed),
  ...ofEach([1, 2, 4], (calls) => ({ [`commands of ${calls}`]: (seed) => commandsOf(calls, seed) })),
  'others use the key': (seed) => fewerThanConfigured({ othersPerMinute: 40 }, seed),
  'the real limit is lower': (seed) => fewerThanConfigured({ realPerMinute: 60 }, seed),
  'held calls': heldCalls,
  'one person floods': (seed) => flood(0, seed),
  'one person floods over a backlog': (seed) => flood(1_500, seed),
  'six connections': sixConnections,
  ...ofEach(['derived', 'five'] as const, (workers) =>
    ofEach([1, 2, 4, 10], (busy) =>
      ofEach([300, 2_000], (slowestMs) => ({
        [`beside ${busy} busy teams, ${workers} workers, answers within ${slowestMs} ms`]: (seed) =>
          besideBusyTeams(busy, workers, slowestMs, seed),
      })),
    ),
  ),
  'two days': twoDays,
  ...ofEach([1, 30, 600], (seconds) => ({
    [`${seconds} s after an outage`]: (seed) => afterOutage(5_000, seconds * SECOND, seed),
  })),
  ...ofEach([5, 20], (seconds) => ({ [`a pause of ${seconds} s`]: (seed) => shortPause(seconds, seed) })),
  'due together': dueTogether,
  '10% lost': (seed) => lostAnswers(0.1, 60, 120, seed),
  '30% lost': (seed) => lostAnswers(0.3, 60, 120, seed),
  '20% lost of 150': (seed) => lostAnswers(0.2, 150, 6_000, seed),
  'one job meets 429': limitedJob,
  'an operation fails': (seed) => failingOperation(true, seed),
  'an operation fails, without the failure': (seed) => failingOperation(false, seed),
};

function ofEach<T>(all: readonly T[], of: (one: T) => Record<string, (seed: number) => Workload>) {
  return Object.assign({}, ...all.map(of)) as Record<string, (seed: number) => Workload>;
}
