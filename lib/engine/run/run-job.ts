import { randomUUID } from 'node:crypto';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { LONGEST_SLEEP_MS } from '../../config/queues.ts';
import { BudgetUnavailable } from '../../service/budget/budget-store.ts';
import { isOfPeople } from '../../service/budget/lanes.ts';
import { UnreadableItem } from '../../state/table/unreadable-item.ts';
import { type JobMessage, jobMessage } from '../line/queue.ts';
import type { WaitingLines } from '../line/waiting-line.ts';
import { InLine, RetryAt } from '../record/interruption.ts';
import { isCustomGroup, type Job } from '../record/job.ts';
import { type ForNextRun, LeaseLost, type WaitingMessage } from '../record/job-store.ts';
import { type Ending, unread } from './ending.ts';
import type { CallsOfRun } from './open-run.ts';
import { letGo, runAutomation } from './run-automation.ts';
import type { Worker } from './worker.ts';

/** `done` if the message can be deleted; otherwise how long it sleeps. */
export type MessageFate = { sleepMs: number } | 'done';

/** After this many receives, a message is replaced, so that waiting never moves it to the dead-letter queue. */
const MOST_RECEIVES = 20;

export interface ReceivedJobMessage extends JobMessage {
  /** How often the message was received, including this time. */
  receives: number;
  /** When the message was sent, in epoch milliseconds. */
  sentAt: number;
}

/**
 * Runs the job of one message until the job ends or has to wait.
 *
 * @param deadline when the run must have ended and the lease ends: a second before the caller is stopped; epoch
 * milliseconds
 */
export async function runJob(message: ReceivedJobMessage, deadline: number, worker: Worker): Promise<MessageFate> {
  const { jobs, queue, runs, clock } = worker;
  const { jobId, generation, sleeps } = message;
  if (sleeps) {
    const left = sleeps.until - clock();
    if (left > 0) return fateOf(messageOf({ lane: sleeps.lane }, left), left);
    await queue.wake({ jobId, generation, sleeps });
    return 'done';
  }
  if (await stoodInLine(message, worker)) return 'done';
  const owner = randomUUID();
  try {
    const claimed = await jobs.claim(jobId, generation, owner, deadline, runs);
    if (!('unclaimed' in claimed)) return await runClaimed(claimed, message, deadline, worker);
    if (!('until' in claimed)) return 'done';
    const left = claimed.until - clock();
    return fateOf(messageOf(claimed.job, left), left);
  } finally {
    runs.end(owner);
  }
}

async function runClaimed(
  job: Job,
  message: ReceivedJobMessage,
  deadline: number,
  worker: Worker,
): Promise<MessageFate> {
  try {
    const { ending, forNextRun, ...made } = await runAutomation(job, deadline, worker);
    const fate = await settle(job, ending, forNextRun, message, worker);
    await endCalls(job, ending, made, worker);
    return fate;
  } catch (error) {
    // The worker that took over runs the job now, with its own message or one from the sweep.
    if (error instanceof LeaseLost) return 'done';
    if (!(error instanceof UnreadableItem)) throw error;
    // Without the journal, the run can send nothing, not even a message to the person who asked.
    return settle(job, unread(job, error, false, worker.clock()), {}, message, worker);
  }
}

/**
 * Puts a new background job at the end of the waiting line without running it. Thousands may arrive at once, and called
 * jobs and other connections must not wait behind them. A person's job runs first instead, to tell the person what it
 * waits for.
 */
async function stoodInLine(message: JobMessage, worker: Worker): Promise<boolean> {
  const { jobs, budget, breakers } = worker;
  const { jobId: id, generation, of } = message;
  const connection = of && worker.connection(of.connection);
  if (of?.lane !== 'background' || !connection) return false;
  let stands: Awaited<ReturnType<typeof budget.standsFirst>>;
  try {
    stands = await budget.standsFirst(of.connection, connection.limits, of.lane);
  } catch (error) {
    // The run then waits for the budget as usual.
    if (error instanceof BudgetUnavailable) return false;
    throw error;
  }
  // The line of a connection that is down calls no jobs, and this job may need no call.
  if (stands?.isFound === false && (await breakers.lines(of.connection)).down) return false;
  const joined =
    stands && (await jobs.standInLineAtOnce({ id, generation, ...of }, 'other jobs wait for calls ahead of it'));
  if (!joined) return false;
  if (!stands?.isFound) await moveOn(joined, worker, (lines) => lines.moveOn(connection, { joined: { job: joined } }));
  return true;
}

/** Stores the result of a run. @returns what to do with its message */
async function settle(
  job: Job,
  ending: Ending,
  forNextRun: ForNextRun,
  received: ReceivedJobMessage,
  worker: Worker,
): Promise<MessageFate> {
  const { jobs, queue, clock, report } = worker;
  switch (ending.ended) {
    case 'succeeded':
    case 'not-done':
      await jobs.finish(job, ending, forNextRun.title);
      break;
    case 'parked': {
      await letGo(job, 'parked', worker);
      const { ended: _, attempts, ...parked } = ending;
      await jobs.park(job, parked, attempts, forNextRun.title);
      break;
    }
    case 'waits': {
      const { wait, attempts } = ending;
      const left = { ...forNextRun, attempts };
      if (wait instanceof InLine) {
        await jobs.standInLine(job, wait, left);
        break;
      }
      const message = messageOf(job, wait.dueAt - clock(), { wait, received });
      const waiting = await jobs.wait(job, wait, message, left);
      // The answer arrived during the run.
      if (!waiting) {
        const atOnce = { ...ending, wait: new RetryAt(clock(), wait.message) };
        return settle(job, atOnce, forNextRun, received, worker);
      }
      report({ news: 'run ended', job, ending });
      if (message === 'is sent again') await queue.send(waiting);
      return fateOf(message, wait.dueAt - clock());
    }
  }
  report({ news: 'run ended', job, ending });
  return 'done';
}

/**
 * How long a message may sleep in the group of a team's automation, which no message may block. Covers the clock
 * difference between two workers.
 */
const MOMENT_MS = 3_000;

/**
 * Decides what happens to the message of a waiting job: {@link WaitingMessage}.
 * - A person's retried command does not block the person's other commands. Commands that wait for the budget keep their
 *   order, and one worker is enough for them.
 * - The message of a team's job sleeps separately, so that no other job waits for it. If its job is waiting or leased,
 *   it leaves the queue, because another message or the sweep follows.
 *
 * @param ms how long the job waits
 * @param ended the run before the wait. Without it, the message cannot be sent again with a new generation
 */
function messageOf(
  { lane, group }: Pick<Job, 'lane' | 'group'>,
  ms: number,
  ended?: { wait: RetryAt; received: ReceivedJobMessage },
): WaitingMessage {
  if (ended?.wait.releasesQueueGroup || ms > LONGEST_SLEEP_MS) return 'leaves';
  if (!ended) return isCustomGroup(group) && ms > MOMENT_MS ? 'leaves' : 'sleeps';
  const { wait, received } = ended;
  // A message sleeps no longer than this in total: it blocks its group, and an old message signals that no worker runs
  // (infra/job-queue.ts).
  const isOld = received.receives >= MOST_RECEIVES || wait.dueAt - received.sentAt > LONGEST_SLEEP_MS;
  const leavesGroup = isCustomGroup(group) || (isOfPeople(lane) && wait.waitsFor !== 'budget');
  return isOld || leavesGroup ? 'is sent again' : 'sleeps';
}

const fateOf = (message: WaitingMessage, ms: number): MessageFate =>
  message === 'sleeps' ? { sleepMs: Math.max(0, ms) } : 'done';

/** Reports the run's calls to the budget, and moves the waiting lines on. */
async function endCalls(job: Job, ending: Ending, { calls, acting }: CallsOfRun, worker: Worker): Promise<void> {
  const { budget, connection } = worker;
  const called = connection(job.connection);
  await moveOn(job, worker, async (lines) => {
    await budget.flush(job.connection);
    await acting?.opened?.flush();
    if (!called) return;
    const { slotAt, ...standing } = job;
    // An operator's decision took the job from its line, and the job that has the slot must move the line on.
    const atOnce = slotAt !== undefined && job.gotOn?.generation === job.generation;
    if (ending.ended === 'waits' && ending.wait instanceof InLine) {
      const joined = { job: standing, operation: ending.wait.operation };
      return void (await lines.moveOn(called, { joined, atOnce }));
    }
    if (slotAt !== undefined && !calls?.slots.hasAsked()) await lines.passOn({ ...job, slotAt }, called.limits);
    if (slotAt !== undefined || calls?.slots.lineIsDue()) await lines.moveOn(called, { atOnce });
  });
}

/**
 * Moves the waiting lines on. Failures are only reported, because the job itself is stored, and the next write and the
 * sweep move the lines on, too.
 */
async function moveOn(job: Job, { lines, report }: Worker, move: (lines: WaitingLines) => Promise<unknown>) {
  try {
    await move(lines);
  } catch (error) {
    report({ news: 'line stands still', job, error });
  }
}

/** The time that the function needs to end by itself. */
const LAST_MOMENTS_MS = 1_000;

/**
 * Processes a batch of SQS messages in order. Reports a sleeping message as failed, so that SQS keeps it, and also the
 * messages behind it, because a FIFO queue would otherwise let them overtake it.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
 */
export async function receiveMessages(
  { Records }: SQSEvent,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
  worker: Worker,
): Promise<SQSBatchResponse> {
  for (const [index, record] of Records.entries()) {
    const message = jobMessage.parse(JSON.parse(record.body));
    const deadline = worker.clock() + context.getRemainingTimeInMillis() - LAST_MOMENTS_MS;
    const { ApproximateReceiveCount, SentTimestamp } = record.attributes;
    const received = { ...message, receives: Number(ApproximateReceiveCount), sentAt: Number(SentTimestamp) };
    const fate = await runJob(received, deadline, worker);
    if (fate === 'done') continue;
    await worker.queue.sleep(record.eventSourceARN, record.receiptHandle, fate.sleepMs);
    return { batchItemFailures: Records.slice(index).map(({ messageId }) => ({ itemIdentifier: messageId })) };
  }
  return { batchItemFailures: [] };
}
