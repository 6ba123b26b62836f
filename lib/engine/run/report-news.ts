import type { Metrics } from '../../state/metrics/metrics.ts';
import { nextStepOfParked } from '../line/next-step.ts';
import { tookOf } from '../record/history.ts';
import { InLine } from '../record/interruption.ts';
import type { Ending } from './ending.ts';
import type { JobNews } from './worker.ts';

/** Reports events of jobs to the metrics and to the log. The log gets ids, steps and reasons, but no payloads. */
export function reportNews(
  log: Pick<Console, 'info' | 'warn' | 'error'>,
  metrics: Metrics,
  clock: () => number,
): (news: JobNews) => void {
  function ended(ending: Ending, about: object): void {
    switch (ending.ended) {
      case 'succeeded':
        log.info({ message: 'job succeeded', ...about, outcome: ending.outcome });
        metrics.record({ JobsSucceeded: 1 });
        return;
      case 'not-done':
        log.info({ message: 'job not done', ...about, outcome: ending.outcome });
        return;
      case 'waits': {
        const { wait } = ending;
        const isForecast = wait instanceof InLine;
        const at = isForecast ? wait.expectedAt : wait.dueAt;
        const due = at && { dueAt: new Date(at).toISOString(), ...(isForecast && { isForecast }) };
        log.info({ message: 'job waits', ...about, ...due, why: wait.message });
        if (ending.isForNewer) metrics.record({ NewerItems: 1 });
        return;
      }
      case 'parked': {
        const { ended: _, ...parked } = ending;
        const next = nextStepOfParked(parked, (ms) => new Date(ms).toISOString(), clock()).text;
        log.warn({ message: 'job parked', ...about, ...parked, next });
      }
    }
  }

  return (report) => {
    const { job } = report;
    const { id: jobId, automation, entity, attempts, connection, cause: { trace } = {} } = job;
    const about = { jobId, automation, connection, entity, attempts, trace };
    switch (report.news) {
      case 'step': {
        const { step, calls, status, note, settledBy, startedAt, finishedAt: endedAt = startedAt } = report.entry;
        const durationMs = tookOf(report.entry, job.waits);
        const line = { message: `step ${status}`, ...about, step, calls, note, settledBy, durationMs };
        if (status === 'failed') {
          log.warn(line);
          metrics.record({ StepsFailed: 1 });
        } else log.info(line);
        if (status === 'done' && report.isOperation) metrics.record({ EventToOperation: endedAt - job.createdAt });
        if (status === 'done' && step === 'reply' && job.replyTo?.in === 'slack') {
          metrics.record({ SlackReply: endedAt - job.createdAt });
        }
        return;
      }
      case 'send': {
        const { came, status, why, sameBytes, calls = report.calls, sentAt, endedAt } = report.send;
        const line = { message: 'request sent', ...about, step: report.step, calls, came, status, why, sameBytes };
        log.info({ ...line, durationMs: endedAt - sentAt });
        return;
      }
      case 'continues': {
        const { for: waitedFor, from, until = from, why } = report.wait;
        log.info({ message: 'job continues', ...about, waitedFor, why, durationMs: until - from });
        return;
      }
      case 'rate limited':
        log.warn({ message: 'the service answered 429', ...about });
        metrics.record({ RateLimited: 1 }, job.connection);
        return;
      case 'strangers wait':
        log.warn({ message: 'the share of outside contributors is used up', ...about, who: report.who });
        metrics.record({ StrangersWait: 1 }, job.connection);
        return;
      case 'credentials refused':
        log.error({ message: 'the service refuses the key', ...about, reason: report.reason });
        metrics.record({ CredentialsRefused: 1 }, job.connection);
        return;
      case 'run ended':
        return ended(report.ending, about);
      case 'breaker not closed':
        log.warn({ message: 'a breaker could not be closed', ...about, error: String(report.error) });
        return;
      case 'line stands still':
        log.warn({ message: 'the waiting line could not advance', ...about, error: String(report.error) });
        return;
      case 'untold':
        log.warn({ message: 'the person who asked could not be told', ...about, error: String(report.error) });
        return;
      case 'bug': {
        const { error } = report;
        const stack = error instanceof Error ? error.stack : undefined;
        log.error({ message: 'an automation failed unexpectedly', ...about, error: String(error), stack });
      }
    }
  };
}
