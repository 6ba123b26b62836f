import { jobMessage } from '../../lib/engine/line/queue.ts';
import { deliver, type SqsHandler } from '../../local/event-source.ts';
import { contextUntil, functionsOf } from '../../local/world/functions.ts';
import { lineage, type PolledQueue } from './polled-queue.ts';
import { noteAwsMetric, noteError, startProcess, type World } from './world.ts';

/** The values of infra/job-worker.ts and lib/schedules.ts. */
const WORKER_TIMEOUT_MS = 60_000;
const SWEEP_TIMEOUT_MS = 55_000;
const SWEEP_EVERY_MS = 60_000;
/** The time from the end of an invocation until its message is deleted. */
const DELETION_MS = [5, 15] as const;
/** The number of invocations after which Lambda stops a chain of requests of one function. */
const MOST_ROUNDS = 16;

/** A run of the worker. */
export interface WorkerRun {
  tookMs: number;
  /** See {@link lineage}. */
  rounds: number;
  jobId: string;
}

/**
 * One process of the worker, which takes one message after the other. It never stops a run at its timeout.
 *
 * @param how `stopsLoops`: whether Lambda moves a message to the dead-letter queue after a chain of too many
 * invocations, as
 * it does without `RecursiveLoop: Allow`; `aheadMs`: how far the process's clock is ahead
 */
export async function runWorker(
  queue: PolledQueue,
  world: World,
  how: { stopsLoops: boolean; aheadMs: number },
  ended: (run: WorkerRun) => void,
): Promise<void> {
  const { time, random } = world;
  const { runtime, work } = startProcess(world, how.aheadMs);
  const handle = (await functionsOf(() => runtime).make('job-worker')) as SqsHandler;
  for (;;) {
    const message = await queue.next();
    const rounds = message.rounds + 1;
    if (how.stopsLoops && rounds > MOST_ROUNDS) {
      queue.moveToDeadLetters(message);
      continue;
    }
    const began = time.now;
    work.jobId = jobMessage.parse(JSON.parse(message.body)).jobId;
    try {
      await deliver(queue, message, async (event) => {
        const context = contextUntil(began + WORKER_TIMEOUT_MS, () => time.now);
        const answer = await lineage.run(rounds, () => handle(event, context));
        await time.sleep(DELETION_MS[0] + random() * (DELETION_MS[1] - DELETION_MS[0]));
        return answer;
      });
    } catch (error) {
      noteError(world, error);
      noteAwsMetric(world, 'Lambda', 'Errors', 1, 'job-worker');
    }
    ended({ tookMs: time.now - began, rounds, jobId: work.jobId });
  }
}

/** A run of the sweep. */
export interface Sweep {
  /** When the run began; virtual time. */
  at: number;
  tookMs: number;
  /** The number of jobs that it queued. */
  swept: number;
}

/** The process of the sweep. It starts every minute, even if the last run has not ended. */
export async function runSweeps(world: World, ended: (sweep: Sweep) => void): Promise<void> {
  const { time, random } = world;
  const { runtime } = startProcess(world);
  const functions = functionsOf(() => runtime);

  async function run(): Promise<void> {
    const at = time.now;
    try {
      const context = contextUntil(at + SWEEP_TIMEOUT_MS, () => time.now);
      const { swept } = (await functions.fire('job-sweep', {}, context)) as { swept: number };
      ended({ at, tookMs: time.now - at, swept });
    } catch (error) {
      noteError(world, error);
    }
  }

  await time.sleep(random() * SWEEP_EVERY_MS);
  for (let next = time.now; ; next += SWEEP_EVERY_MS) {
    await time.sleep(next - time.now);
    void run();
  }
}
