import type { createHandler as createSweepHandler } from '../../functions/job-sweep.ts';
import type { createHandler as createWorkerHandler } from '../../functions/job-worker.ts';
import { jobMessage } from '../../lib/jobs/queue.ts';
import { asSqsHandler, deliver } from '../../local/event-source.ts';
import type { FifoQueueModel } from './fifo-queue-model.ts';
import { contextUntil, noteError, startProcess, type World } from './world.ts';

/** As infra/job-worker.ts and lib/schedules.ts have them. */
const WORKER_TIMEOUT_MS = 60_000;
const SWEEP_TIMEOUT_MS = 55_000;
const SWEEP_EVERY_MS = 60_000;
/** A message is deleted so much after its invocation. */
const DELETION_MS = [5, 15] as const;

/**
 * One process of the worker, which takes one message after the other. No run is stopped at its time-out.
 *
 * @param ended is told how long each run took, in milliseconds
 */
export async function runWorker(
  createHandler: typeof createWorkerHandler,
  queue: FifoQueueModel,
  world: World,
  ended: (tookMs: number) => void,
): Promise<void> {
  const { time, random } = world;
  const { runtime, work } = startProcess(world);
  const handle = asSqsHandler(createHandler(runtime));
  for (;;) {
    const message = await queue.receive();
    const began = time.now;
    work.jobId = jobMessage.parse(JSON.parse(message.body)).jobId;
    try {
      await deliver(queue, message, async (event) => {
        const answer = await handle(event, contextUntil(began + WORKER_TIMEOUT_MS, world));
        await time.sleep(DELETION_MS[0] + random() * (DELETION_MS[1] - DELETION_MS[0]));
        return answer;
      });
    } catch (error) {
      noteError(world, error);
    }
    ended(time.now - began);
  }
}

/** A run of the sweep. */
export interface Sweep {
  /** When it began; virtual time. */
  at: number;
  tookMs: number;
  /** How many jobs it queued. */
  swept: number;
}

/** The process of the sweep, which is started every minute even if the last run has not ended. */
export async function runSweeps(
  createHandler: typeof createSweepHandler,
  world: World,
  ended: (sweep: Sweep) => void,
): Promise<void> {
  const { time, random } = world;
  const handle = createHandler(startProcess(world).runtime) as unknown as (
    event: object,
    context: object,
  ) => Promise<{ swept: number }>;

  async function run(): Promise<void> {
    const at = time.now;
    try {
      const { swept } = await handle({}, contextUntil(at + SWEEP_TIMEOUT_MS, world));
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
