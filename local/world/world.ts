import { MINUTE_MS } from '../../lib/dates.ts';
import { type Job, type JobStatus, jobStatuses } from '../../lib/engine/record/job.ts';
import { openStores, type Runtime, type Stores } from '../../lib/runtime.ts';
import type { ScheduleEvent } from '../../lib/schedules.ts';
import type { FifoQueue } from '../fifo-queue.ts';
import { startHttpFront } from '../http-front.ts';
import { linkRoutes } from '../link-routes.ts';
import type { LocalStack } from '../stack.ts';
import { contextUntil, functionsOf } from './functions.ts';

const UNDER_WAY: readonly JobStatus[] = ['queued', 'running', 'waiting'];

export interface WorldOptions {
  /** The clock stands still until it is moved. */
  clock: { now: number };
  stack: Pick<LocalStack, 'queues'>;
  runtime: Runtime;
  /** The runtime of functions that have another process. */
  runtimeOf?: (slug: string) => Runtime;
  /** Wraps the worker's work on a job. */
  around?: (jobId: string, work: () => Promise<void>) => Promise<void>;
  /** Lets people act when no message can be received. @returns whether they did something */
  meanwhile?: () => Promise<boolean>;
}

export type World = ReturnType<typeof openWorld>;

/**
 * The functions of a relay, with a clock that stands still. They work when a test calls them.
 *
 * The caller passes the parts of the world, rather than options for them: `start` needs the real clock, other processes
 * and
 * files, and a history needs hosts that die. All of them use the same table, queues, service, GitHub and Slack.
 */
export function openWorld({
  clock,
  stack,
  runtime,
  runtimeOf = () => runtime,
  around = (_, work) => work(),
  meanwhile = async () => false,
}: WorldOptions) {
  const functions = functionsOf(runtimeOf);
  const stores: Stores = openStores(runtime);
  const contextNow = () => contextUntil(clock.now + MINUTE_MS, () => clock.now);

  /** Works on one message, people's messages first. @returns whether there was one */
  async function workOnce(): Promise<boolean> {
    for (const queue of stack.queues) {
      const message = queue.receive();
      if (!message) continue;
      await around(JSON.parse(message.body).jobId, () => functions.work(queue, message, contextNow()));
      return true;
    }
    return false;
  }

  /** Oldest first. */
  async function jobs(statuses: readonly JobStatus[] = jobStatuses): Promise<Job[]> {
    const limit = Number.MAX_SAFE_INTEGER;
    const lists = await Promise.all(statuses.map((status) => stores.jobs.list(status, { limit })));
    return lists.flat().sort((a, b) => a.createdAt - b.createdAt);
  }

  return {
    stores,
    functions,
    jobs,
    /** Fires a schedule. @param slug of its function */
    fire: (slug: string, event: ScheduleEvent = {}) => functions.fire(slug, event, contextNow()),
    /** Works until the queues have no receivable message. */
    async work(): Promise<void> {
      while (await workOnce()) {}
    },
    /**
     * Works, moves the clock to the next moment, sweeps, and so on, until no job is under way or the given time has
     * passed.
     */
    async workToTheEnd(longestMs = Number.POSITIVE_INFINITY): Promise<void> {
      const end = clock.now + longestMs;
      while (clock.now <= end) {
        while (clock.now <= end && (await workOnce())) {}
        if (await meanwhile()) continue;
        const underWay = await jobs(UNDER_WAY);
        if (underWay.length === 0) return;
        clock.now = Math.max(clock.now, Math.min(end, nextMoment(clock.now, stack.queues, underWay)));
        if (clock.now >= end) return;
        await functions.fire('job-sweep', {}, contextNow());
      }
    },
    /** Serves the functions at their addresses: `/github`, `/slack`, `/hooks/<name>` and `/link`. */
    serve() {
      const { takeGithub, takeSlack, takeHook, linkPages } = functions;
      const { config } = runtime;
      return startHttpFront(0, {
        ...linkRoutes(linkPages, config.connections),
        'POST /github': takeGithub,
        'POST /hooks/*': takeHook,
        ...(config.slack && { 'POST /slack': takeSlack }),
      });
    },
  };
}

/**
 * When an idle relay can do something next: a message wakes, or the sweep finds work. The sweep moves the waiting lines
 * every minute, but until a minute before the first slot that changes nothing.
 */
export function nextMoment(now: number, queues: readonly FifoQueue[], underWay: readonly Job[]): number {
  const next = Math.min(
    ...queues.map((queue) => queue.nextWakeAt()),
    ...underWay.map(({ line, wakeAt, expectedAt = 0 }) =>
      line === undefined ? wakeAt : Math.max(now + MINUTE_MS, expectedAt - MINUTE_MS),
    ),
  );
  return Math.max(now + 1, next);
}
