import type { QueueName as Lane } from '../lib/engine/line/queue.ts';
import { ServiceModel } from '../test/service/budget/service-model.ts';
import { seededRandom, type VirtualTime } from '../test/service/budget/virtual-time.ts';
import type { Workload } from '../test/simulation/simulation.ts';
import { DAY, MINUTE, SECOND } from '../test/simulation/workloads.ts';

/** What stands between the jobs of the simulation and the service. */
export interface Gate {
  /** @returns what the caller may do now, and what to report afterwards */
  enter(caller: { connection: string; lane: Lane; cameBack: boolean }): Promise<Entry>;
}
export type Entry = { comeBackAt: number } | { sendAt: number; isGood(): Promise<boolean>; answered(): void };

/** One worker as a gate sees it: a process with its own clock. */
export interface Process {
  clock: () => number;
  random: () => number;
  sleep: (ms: number) => Promise<void>;
}

/** The result of a call. Times are in milliseconds since the start. */
export interface Call {
  connection: string;
  lane: Lane;
  wantedAt: number;
  sentAt: number;
  countedAt: number;
  answeredAt: number;
  served: boolean;
}

export interface Happened {
  calls: Call[];
  /** How often a job was received. */
  receives: number;
}

/** Waits up to this long stay with the worker, as in lib/engine/run/partner-calls.ts. */
const LONGEST_STAY_MS = 5 * SECOND;
/** The longest delay with which a sleeping message becomes visible. */
const WAKE_UP_LATE_MS = 3 * SECOND;
/** Workers' clocks are wrong by up to this, in either direction. */
const CLOCK_ERROR_MS = 500;
/** A worker claims a job before it does anything else. */
const CLAIM_MS = 20;

interface WaitingJob {
  connection: string;
  lane: Lane;
  wantedAt: number;
  cameBack: boolean;
}

/** Runs a workload through gates of another limiter, one for each worker: each job makes one call. */
export async function simulate(
  { seed, ...load }: Workload,
  time: VirtualTime,
  gateOf: (process: Process) => Gate,
): Promise<Happened> {
  const random = seededRandom(seed);
  const start = time.now;
  const between = (from: number, to: number) => from + random() * (to - from);
  const services = new Map<string, ServiceModel>();
  const happened: Happened = { calls: [], receives: 0 };
  const ready: Record<Lane, WaitingJob[]> = { interactive: [], background: [] };
  const idle: Record<Lane, ((job: WaitingJob) => void)[]> = { interactive: [], background: [] };

  function serviceOf(connection: string): ServiceModel {
    const { perMinute, perDay } = load.limits;
    const service =
      services.get(connection) ??
      new ServiceModel(load.counting, [
        { lengthMs: MINUTE, most: perMinute },
        { lengthMs: DAY, most: perDay },
      ]);
    services.set(connection, service);
    return service;
  }

  function offer(job: WaitingJob): void {
    const [take] = idle[job.lane].splice(Math.floor(random() * idle[job.lane].length), 1);
    if (take) take(job);
    else ready[job.lane].push(job);
  }

  async function offerLater(job: WaitingJob, ms: number): Promise<void> {
    await time.sleep(ms);
    offer(job);
  }

  async function work(lane: Lane): Promise<void> {
    const clockError = between(-CLOCK_ERROR_MS, CLOCK_ERROR_MS);
    const clock = () => Math.floor(time.now + clockError);
    const gate = gateOf({ clock, random, sleep: (ms) => time.sleep(ms) });
    for (;;) {
      const job = ready[lane].shift() ?? (await new Promise<WaitingJob>((resolve) => idle[lane].push(resolve)));
      happened.receives++;
      await time.sleep(CLAIM_MS);
      await run(job, gate, clock);
    }
  }

  async function run(job: WaitingJob, gate: Gate, clock: () => number): Promise<void> {
    for (;;) {
      const entry = await gate.enter(job);
      if ('comeBackAt' in entry) {
        const ms = entry.comeBackAt - clock();
        job.cameBack = true;
        if (ms > LONGEST_STAY_MS) return void offerLater(job, ms + random() * WAKE_UP_LATE_MS);
        await time.sleep(ms);
        continue;
      }
      if (entry.sendAt > clock()) await time.sleep(entry.sendAt - clock());
      if (!(await entry.isGood())) continue;
      const { connection, lane, wantedAt } = job;
      const call = { connection, lane, wantedAt: wantedAt - start, sentAt: time.now - start };
      const latency = between(...load.latencyMs);
      await time.sleep(latency / 2);
      const served = serviceOf(connection).request(time.now);
      const countedAt = time.now - start;
      await time.sleep(latency / 2);
      happened.calls.push({ ...call, countedAt, answeredAt: time.now - start, served });
      entry.answered();
      return;
    }
  }

  async function arrivals(): Promise<void> {
    for (const { connection, lane, atMs } of load.arrivals.toSorted((a, b) => a.atMs - b.atMs)) {
      if (start + atMs > time.now) await time.sleep(start + atMs - time.now);
      offer({ connection, lane, wantedAt: time.now, cameBack: false });
    }
  }

  for (const lane of ['interactive', 'background'] as const) {
    for (let worker = 0; worker < load.workers[lane]; worker++) void work(lane);
  }
  void arrivals();
  await time.passUntil(start + load.runsMs);
  return happened;
}
