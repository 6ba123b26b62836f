import type { JobNews } from './run-job.ts';

/** Writes what happens to jobs into the log: ids, steps and reasons, never payloads. */
export function logNews(log: Pick<Console, 'info' | 'warn' | 'error'>): (news: JobNews) => void {
  return (told) => {
    const { news, job } = told;
    const about = { jobId: job.id, automation: job.automation, entity: job.entity, attempts: job.attempts };
    if (news === 'step') {
      const { step, calls, status, note, startedAt, finishedAt = startedAt } = told.entry;
      const line = { message: `step ${status}`, ...about, step, calls, note, durationMs: finishedAt - startedAt };
      status === 'failed' ? log.warn(line) : log.info(line);
    } else if (news === 'succeeded') {
      log.info({ message: 'job succeeded', ...about, outcome: told.outcome });
    } else if (news === 'waiting') {
      log.info({ message: 'job waits', ...about, dueAt: new Date(told.dueAt).toISOString(), why: told.why });
    } else if (news === 'parked') {
      log.warn({ message: 'job parked', ...about, reason: told.reason });
    } else {
      const { error } = told;
      log.error({
        message: 'an automation failed in a way that nobody foresaw',
        ...about,
        error: String(error),
        stack: error instanceof Error ? error.stack : undefined,
      });
    }
  };
}
