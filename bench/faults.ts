import { quantile } from '../test/service/budget/figures.ts';
import { figuresOf, waitsForLast, waitsOf, waitsOfPeople } from '../test/simulation/figures.ts';
import { type Call, type Result, simulate, type Workload } from '../test/simulation/simulation.ts';
import { MINUTE, SECOND, workloads } from '../test/simulation/workloads.ts';
import type { Figure } from './figure.ts';

const SEED = 1;

/** What others notice of a fault. */
interface Effect {
  name: string;
  unit?: 's';
  of(result: Result, load: Workload): number;
}

const p99 = (waitsMs: readonly number[]) => quantile(waitsMs, 0.99) / SECOND;
const isAfter = (minutes: number) => (call: Call) => call.wantedAt > minutes * MINUTE;

const untilAllCalled: Effect = {
  name: 'all have called after',
  unit: 's',
  of: ({ calls }) => Math.max(...waitsOf(calls, () => true)) / SECOND,
};
const waitOfPeople: Effect = {
  name: 'people wait, 99%',
  unit: 's',
  of: ({ calls }) => p99(waitsOfPeople(calls, isAfter(5))),
};
const untilLastCall: Effect = {
  name: 'last call after, 99%',
  unit: 's',
  of: ({ calls }) => p99(waitsForLast(calls, isAfter(2))),
};
const mostInMinute: Effect = {
  name: 'most calls in a minute',
  of: (result, load) => figuresOf(result, load).mostInMinute,
};
const waitOfEvents: Effect = {
  name: "another connection's events wait, 99%",
  unit: 's',
  // The messages of the 1,500 jobs that come at once are in the way of everything in the first minutes.
  of: ({ calls }) => p99(waitsOf(calls, (call) => call.connection === 'other' && isAfter(2)(call))),
};

/** The name of a workload in test/simulation/workloads.ts, what to look at, and the most that it may be. */
const rows: readonly [what: string, workload: string, Effect, atMost: number][] = [
  ['10% of answers lost, 60 issues', '10% lost', untilAllCalled, 40],
  ['30% of answers lost, 60 issues', '30% lost', untilAllCalled, 60],
  ['20% of answers lost, 150 issues', '20% lost of 150', untilAllCalled, 45],
  ['30 s after an outage of 6 hours', '30 s after an outage', waitOfPeople, 5],
  ['a job always meets 429', 'one job meets 429', waitOfPeople, 2],
  ['commands of 2 calls and a backlog', 'commands of 2', untilLastCall, 4],
  ['commands of 4 calls and a backlog', 'commands of 4', untilLastCall, 6],
  ['others use 40 of 120 a minute', 'others use the key', waitOfPeople, 10],
  ['the limit is 60, not 120', 'the real limit is lower', waitOfPeople, 10],
  ['a clock 5 hours ahead, limit 20', 'a clock five hours ahead', mostInMinute, 20],
  ['a clock 5 hours behind, limit 20', 'a clock five hours behind', mostInMinute, 20],
];

/** What goes wrong at one place, and what the others notice of it. */
export async function* measureFaults(): AsyncGenerator<Figure> {
  for (const [what, workload, effect, atMost] of rows) {
    yield { ...(await simulated(what, workload, effect)), aim: { atMost } };
  }
  const works = await simulated('1,500 jobs at once', 'an operation fails, without the failure', waitOfEvents);
  yield works;
  const fails = await simulated('all of them fail', 'an operation fails', waitOfEvents);
  yield { ...fails, aim: { atMost: 1.2 * works.value } };
}

async function simulated(what: string, workload: string, { name, unit, of }: Effect): Promise<Figure> {
  const load = workloads.get(workload)?.(SEED);
  if (!load) throw new Error(`there is no workload ${workload}`);
  const result = await simulate(load);
  const refused = result.calls.filter(({ status }) => status === 429).length;
  const calls = `${result.calls.length} calls in ${load.runsMs / MINUTE} minutes`;
  return {
    name: `${what}: ${name}`,
    value: of(result, load),
    ...(unit && { unit }),
    detail: `${calls}, ${refused} refused; ${result.jobs.parked ?? 0} jobs parked`,
  };
}
