import '../lib/without-jit.ts';
import middy from '@middy/core';
import config from '#relay.config';
import { endingCalls } from '../lib/aws-limits.ts';
import { acceptDueTimesheets } from '../lib/intake/schedule/accept-due.ts';
import { ensureTime, openStores, type Runtime, systemRuntime } from '../lib/runtime.ts';
import type { ScheduleEvent } from '../lib/schedules.ts';

/** Every 15 minutes: makes the jobs of the teams whose reminders and summaries are due. */
export function createHandler(runtime: Runtime) {
  const { config, log } = runtime;
  const { table, clock, jobs, queue } = openStores(runtime);
  return endingCalls(
    middy<ScheduleEvent>().handler(async (event) => {
      await ensureTime(table, log);
      const firedFor = Date.parse(event.at ?? '');
      const now = Number.isNaN(firedFor) ? clock() : firedFor;
      const due = await acceptDueTimesheets(config, { jobs, queue }, now);
      for (const { job, repeat } of due) {
        if (!repeat) log.info({ message: 'job queued', jobId: job.id, summary: job.summary });
      }
      return { due: due.length, jobs: due.map(({ job, repeat }) => ({ id: job.id, summary: job.summary, repeat })) };
    }),
  );
}

export const handler = createHandler(systemRuntime(config, process.env));
