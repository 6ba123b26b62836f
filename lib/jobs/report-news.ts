import type { Metrics } from '../metrics/metrics.ts';
import type { JobNews } from './run-job.ts';

/** Tells what happens to jobs: to the log with ids, steps and reasons, never payloads; and to the metrics. */
export function reportNews(log: Pick<Console, 'info' | 'warn' | 'error'>, metrics: Metrics): (news: JobNews) => void {
  return (told) => {
    const { job } = told;
    const about = { jobId: job.id, automation: job.automation, entity: job.entity, attempts: job.attempts };
    switch (told.news) {
      case 'step': {
        const { step, calls, status, note, startedAt, finishedAt = startedAt } = told.entry;
        const line = { message: `step ${status}`, ...about, step, calls, note, durationMs: finishedAt - startedAt };
        if (status === 'failed') {
          log.warn(line);
          metrics.record({ StepsFailed: 1 });
        } else log.info(line);
        if (status === 'done' && told.isOperation) metrics.record({ EventToOperation: finishedAt - job.createdAt });
        if (status === 'done' && step === 'reply' && job.replyTo?.in === 'slack') {
          metrics.record({ SlackReply: finishedAt - job.createdAt });
        }
        return;
      }
      case 'rate limited':
        log.warn({ message: 'the service answered 429', ...about, connection: job.connection });
        metrics.record({ RateLimited: 1 }, job.connection);
        return;
      case 'strangers wait':
        log.warn({
          message: 'the share of strangers is used up',
          ...about,
          connection: job.connection,
          who: told.who,
        });
        metrics.record({ StrangersWait: 1 }, job.connection);
        return;
      case 'stopped':
        log.warn({
          message: 'calls are stopped',
          ...about,
          connection: job.connection,
          what: told.what,
          why: told.why,
        });
        return;
      case 'credentials refused':
        log.error({
          message: 'the service refuses the key',
          ...about,
          connection: job.connection,
          reason: told.reason,
        });
        metrics.record({ CredentialsRefused: 1 }, job.connection);
        return;
      case 'succeeded':
        log.info({ message: 'job succeeded', ...about, outcome: told.outcome });
        metrics.record({ JobsSucceeded: 1 });
        return;
      case 'waiting':
        log.info({ message: 'job waits', ...about, dueAt: new Date(told.dueAt).toISOString(), why: told.why });
        return;
      case 'in line': {
        const { expectedAt, why } = told;
        log.info({ message: 'job waits', ...about, dueAt: expectedAt && new Date(expectedAt).toISOString(), why });
        return;
      }
      case 'breaker not closed':
        log.warn({ message: 'a breaker could not be closed', ...about, error: String(told.error) });
        return;
      case 'line stands still':
        log.warn({ message: 'the waiting line could not be moved on', ...about, error: String(told.error) });
        return;
      case 'parked':
        log.warn({ message: 'job parked', ...about, reason: told.reason });
        metrics.record({ JobsParked: 1 });
        return;
      case 'untold':
        log.warn({ message: 'the person who asked could not be told', ...about, error: String(told.error) });
        return;
      case 'bug': {
        const { error } = told;
        const stack = error instanceof Error ? error.stack : undefined;
        log.error({
          message: 'an automation failed in a way that nobody foresaw',
          ...about,
          error: String(error),
          stack,
        });
      }
    }
  };
}
