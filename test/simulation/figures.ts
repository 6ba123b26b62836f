import { mostWithin, quantile } from '../service/budget/figures.ts';
import type { Call, Result, Workload } from './simulation.ts';
import { MINUTE } from './workloads.ts';

/** The number of a connection's calls that the service counted in each complete period of that length. */
export function countedIn(calls: readonly Call[], load: Workload, connection: string, lengthMs: number): number[] {
  const counts = Array.from({ length: Math.floor(load.runsMs / lengthMs) }, () => 0);
  for (const call of calls) {
    if (call.connection !== connection || call.countedAt === undefined) continue;
    const at = Math.floor(call.countedAt / lengthMs);
    const count = counts[at];
    if (count !== undefined) counts[at] = count + 1;
  }
  return counts;
}

/** The number of calls in each complete minute since the first call. */
export function sentInMinutes(calls: readonly Call[], runsMs: number): number[] {
  const sentAt = calls.map((call) => call.sentAt);
  const first = Math.min(...sentAt);
  const minutes = Array.from({ length: Math.floor((runsMs - first) / MINUTE) }, (_, minute) => first + minute * MINUTE);
  return minutes.map((from) => sentAt.filter((at) => at >= from && at < from + MINUTE).length);
}

/** The used part of the minute's limit in each ten minutes. */
export function usedParts(calls: readonly Call[], load: Workload, connection: string): number[] {
  const counts = countedIn(calls, load, connection, 10 * MINUTE);
  return counts.map((count) => count / (10 * load.limits.perMinute));
}

/** The times from each person's command to the first call of its job; milliseconds. */
export function waitsOfPeople(calls: readonly Call[], isMeant: (call: Call) => boolean = () => true): number[] {
  return waitsOf(calls, (call) => call.lane === 'interactive' && isMeant(call));
}

/** The times from each person's command to the last call of its job; milliseconds. */
export function waitsForLast(calls: readonly Call[], isMeant: (call: Call) => boolean = () => true): number[] {
  const ofPeople = calls.filter((call) => call.lane === 'interactive' && isMeant(call));
  const last = new Map(ofPeople.map((call) => [call.jobId, call.sentAt - call.wantedAt]));
  return [...last.values()];
}

/** The times from each event to the first call of its job; milliseconds. */
export function waitsOf(calls: readonly Call[], isMeant: (call: Call) => boolean): number[] {
  const first = new Map<string, Call>();
  for (const call of calls) if (isMeant(call) && !first.has(call.jobId)) first.set(call.jobId, call);
  return [...first.values()].map(({ sentAt, wantedAt }) => sentAt - wantedAt);
}

export const p99Of = (waits: readonly number[]) => quantile([...waits], 0.99);

/** By then, the backlog is spread over the minute, and the budget knows what people use. */
export const isAfterStart = ({ wantedAt }: Call) => wantedAt > 2 * MINUTE;

/** The numbers that the requirements are about. */
export interface Figures {
  calls: number;
  /** For each connection and ten minutes. */
  used: Record<string, number[]>;
  /** The calls of each minute since the first call. */
  inMinutes: number[];
  refused: number;
  /** How often a line with jobs had no job on its way to a worker. */
  stranded: number;
  mostInMinute: number;
  people: { count: number; p50Ms: number; p99Ms: number; mostMs: number };
  budgetWritesPerCall: number;
  writeUnitsPerCall: number;
  /** The part of these units that the indexes need. */
  indexUnitsPerCall: number;
  workerSecondsPerCall: number;
  readUnitsPerCall: number;
  receivesPerCall: number;
  largestBudgetBytes: number;
  deadLetters: number;
  longestSweepMs: number;
  longestRunMs: number;
  /** The longest chain of invocations in which each sent the next one's message. */
  longestChain: number;
  jobs: Record<string, number>;
}

export function figuresOf(result: Result, load: Workload): Figures {
  const { calls, units } = result;
  const waits = waitsOfPeople(calls);
  const sum = (of: (one: { write: number; indexWrite: number; read: number }) => number) =>
    [...units.values()].reduce((total, one) => total + of(one), 0);
  const perCall = (count: number) => count / Math.max(1, calls.length);
  const answered = calls.flatMap(({ connection, sentAt, answeredAt }) =>
    answeredAt === undefined ? [] : { connection, sentAt, answeredAt },
  );
  return {
    calls: calls.length,
    used: Object.fromEntries(load.connections.map((name) => [name, usedParts(calls, load, name)])),
    inMinutes: sentInMinutes(calls, load.runsMs),
    refused: calls.filter(({ status }) => status === 429).length,
    stranded: result.stranded.length,
    mostInMinute: Math.max(
      ...load.connections.map((name) =>
        mostWithin(
          answered.filter(({ connection }) => connection === name),
          MINUTE,
        ),
      ),
    ),
    people: {
      count: waits.length,
      p50Ms: quantile(waits, 0.5),
      p99Ms: quantile(waits, 0.99),
      mostMs: Math.max(0, ...waits),
    },
    budgetWritesPerCall: perCall(units.get('budget')?.write ?? 0),
    writeUnitsPerCall: perCall(sum(({ write, indexWrite }) => write + indexWrite)),
    indexUnitsPerCall: perCall(sum(({ indexWrite }) => indexWrite)),
    workerSecondsPerCall: perCall(result.runsMs / 1_000),
    readUnitsPerCall: perCall(sum(({ read }) => read)),
    receivesPerCall: perCall(result.receives.interactive + result.receives.background),
    largestBudgetBytes: units.get('budget')?.largestItemBytes ?? 0,
    deadLetters: result.deadLetters.length,
    longestSweepMs: Math.max(0, ...result.sweeps.map(({ tookMs }) => tookMs)),
    longestRunMs: result.longestRunMs,
    longestChain: result.mostRounds,
    jobs: result.jobs,
  };
}

/** The figures in one line. */
export function inOneLine(figures: Figures): string {
  const percents = (parts: readonly number[]) => parts.map((part) => (100 * part).toFixed(1)).join(' ');
  const used = Object.entries(figures.used).map(([name, parts]) =>
    parts.length <= 12
      ? `${name} ${percents(parts)} %`
      : `${name} ${percents([Math.min(...parts), quantile(parts, 0.5), Math.max(...parts)])} % (least, median, most)`,
  );
  const { people } = figures;
  return [
    `${figures.calls} calls`,
    `used ${used.join(', ')}`,
    `minutes from the first call ${figures.inMinutes.slice(0, 6).join(' ')}`,
    `429: ${figures.refused}`,
    `nobody on the way ${figures.stranded}`,
    `most in a minute ${figures.mostInMinute}`,
    `people ${people.count}: p50 ${Math.round(people.p50Ms)} p99 ${Math.round(people.p99Ms)} most ${Math.round(people.mostMs)} ms`,
    `a call: budget writes ${figures.budgetWritesPerCall.toFixed(2)}, receives ${figures.receivesPerCall.toFixed(2)}, write units ${figures.writeUnitsPerCall.toFixed(1)}, of indexes ${figures.indexUnitsPerCall.toFixed(1)}, worker ${figures.workerSecondsPerCall.toFixed(2)} s, read units ${figures.readUnitsPerCall.toFixed(1)}`,
    `budget item ${figures.largestBudgetBytes} B`,
    `dead letters ${figures.deadLetters}`,
    `longest sweep ${Math.round(figures.longestSweepMs)} ms, run ${Math.round(figures.longestRunMs)} ms, chain ${figures.longestChain}`,
    `jobs ${JSON.stringify(figures.jobs)}`,
  ].join('; ');
}
