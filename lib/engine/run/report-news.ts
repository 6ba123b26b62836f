import type { Metrics } from '../../state/metrics/metrics.ts';
import { nextStepOfParked } from '../line/next-step.ts';
import { InLine } from '../record/interruption.ts';
import { tookOf } from '../record/journal.ts';
import type { Ending } from './ending.ts';
import type { JobNews } from './worker.ts';

/** Reports events of jobs to the metrics and to the log. The log gets ids, steps and reasons, but no payloads. */
export function reportNews(
  log: Pick<Console, 'info' | 'warn' | 'error'>,
  metrics: Metrics,
  clock: () => number,
): (news: JobNews) => void {
  return (report) => {
    const { job } = report;
    const { id: jobId, automation, entity, attempts, connection, cause: { trace } = {} } = job;
    const about = { jobId, automation, connection, entity, attempts, trace };
    const note = (level: keyof typeof log, message: string, facts: object = {}) =>
      log[level]({ message, ...about, ...facts });
    const count = (metric: 'RateLimited' | 'StrangersWait' | 'CredentialsRefused') =>
      metrics.record({ [metric]: 1 }, connection);
    switch (report.news) {
      case 'step': {
        const { step, calls, status, note: why, settledBy, startedAt, finishedAt: endedAt = startedAt } = report.entry;
        const durationMs = tookOf(report.entry);
        const hasFailed = status === 'failed';
        note(hasFailed ? 'warn' : 'info', `step ${status}`, { step, calls, note: why, settledBy, durationMs });
        if (hasFailed) metrics.record({ StepsFailed: 1 });
        if (status === 'done' && report.isOperation) metrics.record({ EventToOperation: endedAt - job.createdAt });
        if (status === 'done' && step === 'reply' && job.replyTo?.in === 'slack') {
          metrics.record({ SlackReply: endedAt - job.createdAt });
        }
        return;
      }
      case 'send': {
        const { came, status, why, sameBytes, calls = report.calls, sentAt, endedAt } = report.send;
        const sent = { step: report.step, calls, came, status, why, sameBytes, durationMs: endedAt - sentAt };
        return note('info', 'request sent', sent);
      }
      case 'continues': {
        const { for: waitedFor, from, until = from, why } = report.wait;
        return note('info', 'job continues', { waitedFor, why, durationMs: until - from });
      }
      case 'rate limited':
        count('RateLimited');
        return note('warn', 'the service answered 429');
      case 'strangers wait':
        count('StrangersWait');
        return note('warn', 'the share of outside contributors is used up', { who: report.who });
      case 'credentials refused':
        count('CredentialsRefused');
        return note('error', 'the service refuses the key', { reason: report.reason });
      case 'breaker not closed':
        return note('warn', 'a breaker could not be closed', { error: String(report.error) });
      case 'line stands still':
        return note('warn', 'the waiting line could not advance', { error: String(report.error) });
      case 'untold':
        return note('warn', 'the person who asked could not be told', { error: String(report.error) });
      case 'bug': {
        const { error } = report;
        const stack = error instanceof Error ? error.stack : undefined;
        return note('error', 'an automation failed unexpectedly', { error: String(error), stack });
      }
      case 'run ended':
        if (report.ending.ended === 'succeeded') metrics.record({ JobsSucceeded: 1 });
        if (report.ending.ended === 'waits' && report.ending.isForNewer) metrics.record({ NewerItems: 1 });
        return note(report.ending.ended === 'parked' ? 'warn' : 'info', ...endingInWords(report.ending, clock()));
    }
  };
}

function endingInWords(ending: Ending, now: number): [message: string, facts: object] {
  const inUtc = (ms: number) => new Date(ms).toISOString();
  switch (ending.ended) {
    case 'succeeded':
    case 'not-done':
      return [ending.ended === 'succeeded' ? 'job succeeded' : 'job not done', { outcome: ending.outcome }];
    case 'waits': {
      const { wait } = ending;
      const isForecast = wait instanceof InLine;
      const at = isForecast ? wait.expectedAt : wait.dueAt;
      return ['job waits', { ...(at && { dueAt: inUtc(at), ...(isForecast && { isForecast }) }), why: wait.message }];
    }
    case 'parked': {
      const { ended: _, ...parked } = ending;
      return ['job parked', { ...parked, next: nextStepOfParked(parked, inUtc, now).text }];
    }
  }
}
