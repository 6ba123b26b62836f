import type { Counting } from './service-model.ts';
import { backlog, DAY, MINUTE, randomJobs, type Workload } from './simulation.ts';
import { seededRandom } from './virtual-time.ts';

/** The limits of the service (interface document, Limits), and a world that is hard on them. */
const hard = {
  limits: { perMinute: 120, perDay: 5_000 },
  workers: { interactive: 5, background: 45 },
  latencyMs: [5, 2_000],
  wakeUpLateMs: 3_000,
  clockErrorMs: 500,
} as const;

/** A backlog that outlasts it, and people who come at random, ten a minute. */
export function backlogWithPeople(counting: Counting, runsMs: number, seed: number): Workload {
  const people = randomJobs('interactive', 10, runsMs, seededRandom(seed + 1_000));
  return { ...hard, seed, counting, runsMs, jobs: [...backlog(5_000), ...people] };
}

/** A hundred background calls at one moment, and nothing before. */
export function burst(counting: Counting, seed: number): Workload {
  return { ...hard, seed, counting, runsMs: MINUTE, jobs: backlog(100) };
}

/** Two days and what is left over for a third, with a person every five minutes. */
export function twoDays(counting: Counting, seed: number): Workload {
  const people = randomJobs('interactive', 0.2, 2 * DAY, seededRandom(seed + 1_000));
  return { ...hard, seed, counting, runsMs: 2 * DAY, jobs: [...backlog(12_000), ...people] };
}

/** A thousand connections with two background calls a minute and a person every two; the first may have a backlog, too. */
export function manyConnections(runsMs: number, backlogOfFirst: number, seed: number): Workload {
  const random = seededRandom(seed + 1_000);
  const jobs = Array.from({ length: 1_000 }, (_, index) => [
    ...randomJobs('background', 2, runsMs, random, `c${index}`),
    ...randomJobs('interactive', 0.5, runsMs, random, `c${index}`),
  ]);
  return {
    ...hard,
    seed,
    counting: 'sliding',
    workers: { interactive: 50, background: 150 },
    runsMs,
    jobs: [...backlog(backlogOfFirst, 'c0'), ...jobs.flat()],
  };
}
