import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../sandbox/faults.ts';
import { quantile } from '../test/service/budget/figures.ts';
import { alarmsOf } from '../test/simulation/alarms.ts';
import { countedIn, figuresOf, waitsForLast, waitsOf, waitsOfPeople } from '../test/simulation/figures.ts';
import { type Call, simulate, type Workload } from '../test/simulation/simulation.ts';
import {
  commandsOf,
  failingOperation,
  fewerThanConfigured,
  HOUR,
  limitedJob,
  longBacklog,
  MINUTE,
  noWorker,
  SECOND,
  wrongClock,
} from '../test/simulation/workloads.ts';
import type { Findings } from './figures.ts';
import { type Burst, withBurst } from './lost-answers.ts';
import { median } from './measure.ts';

/** One bad thing, and what it does to the rest. */
interface FaultRow {
  what: string;
  /** What an earlier version did. */
  before: string;
  /** What this version does, measured in that folder or in the simulation. */
  today: (folder: string) => Promise<string>;
  aim: string;
}

const RUNS = 10;
const SEED = 1;
const LONGEST_BURST_MS = 5 * MINUTE;
const OUTAGE_MS = MINUTE;
/** Jobs that search for a lost creation wait this long for the next look. */
const QUIET_MS = 12 * SECOND;

/** An answer takes 0.3 to 1 s, and a part of them is cut then. */
const cutAnswers = (part: number): Fault[] => [
  { kind: 'latency', when: 'on answer', ms: 300, toMs: 1_000 },
  { kind: 'cut', when: 'on answer', part },
];
/** A part of the answers never comes. The relay waits ten seconds for each. */
const missingAnswers = (part: number): Fault[] => [
  { kind: 'latency', when: 'on answer', ms: 300, toMs: 1_000 },
  { kind: 'latency', when: 'on answer', ms: MINUTE, part },
];

const rows: readonly FaultRow[] = [
  {
    what: '10% of the answers are cut, 60 issues',
    before: '10 to more than 120 s',
    today: (folder) => bursts(folder, { issues: 60, faults: cutAnswers(0.1) }),
    aim: 'within 40 s in each run',
  },
  {
    what: '30% are cut, 60 issues',
    before: '58 after 300 s',
    today: (folder) => bursts(folder, { issues: 60, faults: cutAnswers(0.3) }),
    aim: 'within 60 s, at most 125 calls in the median',
  },
  {
    what: '20% are cut, 150 issues, limit 6,000 a minute',
    before: '209 s',
    today: (folder) => bursts(folder, { issues: 150, perMinute: 6_000, faults: cutAnswers(0.2) }),
    aim: 'within 45 s',
  },
  {
    what: '10% never come, 60 issues',
    before: 'not measured',
    // Each costs one of five workers ten seconds: 7 of 67 calls, 14 s more than if they were cut.
    today: (folder) => bursts(folder, { issues: 60, faults: missingAnswers(0.1) }, 1),
    aim: 'within 40 + 14 s',
  },
  {
    what: 'an outage of a minute, 60 issues',
    before: '6 calls, first defect after 4.8 s, all after 27 s',
    today: (folder) =>
      withBurst(folder, { issues: 60, faults: [{ kind: 'cut', when: 'on arrival' }] }, async (burst) => {
        await sleep(burst.startedAt + OUTAGE_MS - Date.now());
        const calls = burst.sandbox.requests;
        burst.sandbox.clearFaults();
        const from = Date.now();
        const first = await burst.until(1, LONGEST_BURST_MS, from);
        const all = await burst.until(60, LONGEST_BURST_MS, from);
        return `${calls} calls, first defect after ${seconds(first)}, all after ${seconds(all)}`;
      }),
    aim: 'the same',
  },
  {
    what: 'one job always meets 429, a backlog',
    before: '15 calls a minute for ever, people p99 84 s',
    today: () => simulated(limitedJob(true, undefined, SEED), limited),
    aim: 'it is parked; the others as without it',
  },
  {
    what: 'the same with Retry-After 300',
    before: 'people p99 298 s',
    today: () => simulated(limitedJob(true, 300, SEED), limited),
    aim: 'the same',
  },
  ...[true, false].map(
    (fails): FaultRow => ({
      what: fails ? 'an operation fails, 1,500 jobs wait for it' : 'the same jobs without the failure',
      before: fails ? "the other connection's events p99 56 s, 11,500 write units a minute" : '',
      today: () => simulated(failingOperation(fails, SEED), beside),
      aim: fails ? 'events at most 20% later than without the failure' : '',
    }),
  ),
  ...[2, 4].map(
    (calls): FaultRow => ({
      what: `ten people a minute give commands of ${calls} calls behind a backlog`,
      before: calls === 2 ? 'last call p99 12.6 s' : 'last call p99 25 s',
      today: () => simulated(commandsOf(calls, SEED), lastCalls),
      aim: `last call p99 within ${calls === 2 ? 4 : 6} s, at least 95% of the limit used`,
    }),
  ),
  ...[{ othersPerMinute: 40 }, { realPerMinute: 60 }].map(
    (how): FaultRow => ({
      what: 'othersPerMinute' in how ? 'others send 40 calls a minute with the key' : 'the real limit is half',
      before: "people's median 22 to 37 s",
      today: () => simulated(fewerThanConfigured(how, SEED), lastCalls),
      aim: 'people p99 within 10 s',
    }),
  ),
  ...[5, -5].map(
    (hours): FaultRow => ({
      what: `the clock of one worker is ${Math.abs(hours)} hours ${hours > 0 ? 'ahead' : 'behind'}`,
      before: 'nothing is sent any more',
      today: () => simulated(wrongClock(hours * HOUR, SEED), sentIn),
      aim: 'never above the limit, at most a minute of sending lost',
    }),
  ),
  {
    what: "a long backlog, with Lambda's guard against loops and without",
    before: '29 to 649 jobs blocked for hours behind a false alarm',
    today: async () => {
      const stopped = await simulate(longBacklog(true, SEED));
      const goesOn = await simulate(longBacklog(false, SEED));
      return `${stopped.deadLetters.length} messages stopped with it, ${goesOn.deadLetters.length} without`;
    },
    aim: '0 without; the stack switches it off',
  },
  {
    what: 'the worker does not run',
    before: 'no alarm in six hours',
    today: () =>
      simulated(noWorker(SEED), (result, { runsMs }) =>
        [...alarmsOf(result, runsMs)].map(([alarm, minute]) => `${alarm} after ${minute} min`).join(', '),
      ),
    aim: 'alarms',
  },
];

/** What each bad thing does to the rest, with the figures of an earlier version. It takes half an hour. */
export async function compareFaults(folder: string): Promise<Findings> {
  const notes: string[] = [];
  for (const [index, { what, before, today, aim }] of rows.entries()) {
    const now = await today(join(folder, String(index)));
    notes.push(`${what}\n  before: ${before}\n  today:  ${now}\n  aim:    ${aim}`);
  }
  return { figures: [], notes };
}

type BurstOptions = Parameters<typeof withBurst>[1];

/** Runs the burst several times. @returns how long each took until all defects were made, and how many calls */
async function bursts(folder: string, options: BurstOptions, runs = RUNS): Promise<string> {
  const took: (number | undefined)[] = [];
  const calls: number[] = [];
  for (let run = 0; run < runs; run++) {
    await withBurst(join(folder, String(run)), options, async (burst) => {
      took.push(await burst.until(options.issues, LONGEST_BURST_MS));
      calls.push(await callsInTheEnd(burst));
    });
  }
  return `${took.map(seconds).join(', ')}; calls ${calls.join(', ')}, median ${median(calls)}`;
}

async function callsInTheEnd({ sandbox }: Burst): Promise<number> {
  for (;;) {
    const { requests } = sandbox;
    await sleep(QUIET_MS);
    if (sandbox.requests === requests) return requests;
  }
}

const seconds = (value: number | undefined) => (value === undefined ? 'too long' : `${value.toFixed(1)} s`);

type Simulated = Awaited<ReturnType<typeof simulate>>;

async function simulated(load: Workload, say: (result: Simulated, load: Workload) => string): Promise<string> {
  return say(await simulate(load), load);
}

const p99 = (waitsMs: readonly number[]) => seconds(quantile(waitsMs, 0.99) / SECOND);

function limited(result: Simulated, load: Workload): string {
  const perMinute = median(countedIn(result.calls, load, 'main', MINUTE));
  return `${perMinute} calls a minute, people p99 ${p99(waitsOfPeople(result.calls))}, parked ${result.jobs.parked ?? 0}`;
}

function sentIn(result: Simulated, load: Workload): string {
  const minutes = load.runsMs / MINUTE;
  const most = figuresOf(result, load).mostInMinute;
  return `${result.calls.length} calls in ${minutes} minutes, at most ${most} in a minute, limit ${load.limits.perMinute}`;
}

function lastCalls({ calls }: Simulated, load: Workload): string {
  const isAfterStart = ({ wantedAt }: Call) => wantedAt > 2 * MINUTE;
  const [used = 0] = countedIn(calls, load, 'main', 10 * MINUTE);
  const part = `${Math.round((100 * used) / (10 * load.limits.perMinute))}% of the limit`;
  const refused = calls.filter(({ status }) => status === 429).length;
  const first = p99(waitsOfPeople(calls, isAfterStart));
  return `first call p99 ${first}, last ${p99(waitsForLast(calls, isAfterStart))}, ${part} used, ${refused} refused`;
}

function beside(result: Simulated, load: Workload): string {
  const events = waitsOf(result.calls, (call) => call.connection === 'other' && call.lane === 'background');
  const units = [...result.units.values()].reduce((sum, { write, indexWrite }) => sum + write + indexWrite, 0);
  const perMinute = Math.round(units / (load.runsMs / MINUTE)).toLocaleString('en');
  return `the other connection's events p99 ${p99(events)}, ${perMinute} write units a minute`;
}
