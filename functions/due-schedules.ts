import '../lib/without-jit.ts';
import middy from '@middy/core';
import { endingCalls } from '../lib/aws-limits.ts';
import { acceptCustomSchedule, acceptDue } from '../lib/intake/schedule/accept-schedules.ts';
import { beginRun, openStores, type Runtime } from '../lib/runtime.ts';
import type { ScheduleEvent } from '../lib/schedules.ts';

/** Every 15 minutes: makes the jobs of reminders, summaries and the team's own schedules that are due. */
export function createHandler(runtime: Runtime) {
  const { config, custom, log } = runtime;
  const { table, clock, jobs, queue } = openStores(runtime);
  const options = { config, custom, table, clock, jobs, queue };
  return endingCalls(
    middy<ScheduleEvent>().handler(async (event) => {
      await beginRun('due-schedules', table, log);
      const firedFor = Date.parse(event.at ?? '');
      const now = Number.isNaN(firedFor) ? clock() : firedFor;
      const due =
        event.own === undefined ? await acceptDue(options, now) : await acceptCustomSchedule(event.own, options, now);
      for (const { job, repeat } of due) {
        if (!repeat) log.info({ message: 'job queued', jobId: job.id, summary: job.summary });
      }
      return { due: due.length, jobs: due.map(({ job, repeat }) => ({ id: job.id, summary: job.summary, repeat })) };
    }),
  );
}
