import { seededRandom, VirtualTime } from '../test/service/budget/virtual-time.ts';
import type { Arrival } from '../test/simulation/arrivals.ts';
import type { Call, Workload } from '../test/simulation/simulation.ts';
import { MINUTE, SECOND } from '../test/simulation/workloads.ts';

/** The parts of calls that are compared. */
export type Calls = readonly Pick<Call, 'lane' | 'wantedAt' | 'sentAt' | 'countedAt'>[];

/** The part of `rate-limiter-flexible` that the bench uses. */
interface Library {
  RateLimiterMemory: new (options: { points: number; duration: number }) => Limiter;
}
interface Limiter {
  /** Rejects with `msBeforeNext` if nothing is left. */
  consume(key: string): Promise<unknown>;
}

/** The start of the simulation, which is not on a boundary of a calendar window. */
export const START = Date.UTC(2026, 10, 20, 10, 0, 17);

/**
 * Runs a workload through a limiter per minute. Each job makes one call. The peer gets the best conditions: all workers
 * share one counter without latency, and a job is not put back while it waits.
 */
export async function runThroughPeer(load: Workload): Promise<Calls> {
  const library = new URL('peers/node_modules/rate-limiter-flexible/index.js', import.meta.url);
  const { RateLimiterMemory } = (await import(library.href)) as Library;
  const limiter = new RateLimiterMemory({ points: load.limits.perMinute, duration: MINUTE / SECOND });
  const time = new VirtualTime(START);
  const random = seededRandom(load.seed);
  const [least, most] = load.latencyMs;
  const calls: Calls[number][] = [];

  async function work(jobs: Iterable<Arrival>): Promise<void> {
    for (const { lane, connection, atMs } of jobs) {
      await time.sleep(START + atMs - time.now);
      for (;;) {
        const waitMs = await msUntilAllowed(limiter, connection);
        if (waitMs === 0) break;
        await time.sleep(waitMs);
      }
      const latencyMs = least + random() * (most - least);
      const sentAt = time.now - START;
      await time.sleep(latencyMs / 2);
      calls.push({ lane, wantedAt: atMs, sentAt, countedAt: time.now - START });
      await time.sleep(latencyMs / 2);
    }
  }

  // The library reads the process's clock.
  const { now } = Date;
  Date.now = () => Math.floor(time.now);
  try {
    for (const lane of ['interactive', 'background'] as const) {
      // All workers of a lane share this iterator.
      const jobs = load.arrivals.filter((job) => job.lane === lane).values();
      for (let worker = 0; worker < load.workers[lane]; worker++) void work(jobs);
    }
    await time.passUntil(START + load.runsMs);
  } finally {
    Date.now = now;
  }
  return calls;
}

/** @returns 0 if the limiter lets the call through */
async function msUntilAllowed(limiter: Limiter, key: string): Promise<number> {
  try {
    await limiter.consume(key);
    return 0;
  } catch (refusal) {
    return Math.max(1, (refusal as { msBeforeNext: number }).msBeforeNext);
  }
}
