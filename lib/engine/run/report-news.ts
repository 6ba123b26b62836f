import type { Metrics } from '../../state/metrics/metrics.ts';
import { nextStepOfParked } from '../line/next-step.ts';
import { InLine } from '../record/interruption.ts';
import type { JobNews } from './worker.ts';

/** Reports the news of jobs to metrics and log. The log gets ids, steps and reasons, but no payloads. */
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
        const durationMs = endedAt - startedAt;
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
        const { for: kind, from, until = from, why } = report.wait;
        const waitedFor = job.discarded ? 'operator' : kind;
        return note('info', 'job continues', { waitedFor, why, durationMs: until - from });
      }
      case 'rate limited':
        count('RateLimited');
        return note('warn', 'the service answered 429');
      case 'strangers wait':
        count('StrangersWait');
        return note('warn', 'the share of strangers is used up', { who: report.who });
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
        break;
    }
    const { ending } = report;
    switch (ending.ended) {
      case 'succeeded':
        metrics.record({ JobsSucceeded: 1 });
        return note('info', 'job succeeded', { outcome: ending.outcome });
      case 'not-done':
        return note('info', 'job not done', { outcome: ending.outcome });
      case 'waits': {
        const { wait } = ending;
        const isForecast = wait instanceof InLine;
        const at = isForecast ? wait.expectedAt : wait.dueAt;
        if (ending.isForNewer) metrics.record({ NewerItems: 1 });
        const due = at && { dueAt: inUtc(at), ...(isForecast && { isForecast }) };
        return note('info', 'job waits', { ...due, waitsFor: wait.waitsFor, why: wait.message });
      }
      case 'parked': {
        const { ended: _, ...parked } = ending;
        return note('warn', 'job parked', { ...parked, next: nextStepOfParked(parked, inUtc, clock()).text });
      }
    }
  };
}

const inUtc = (ms: number) => new Date(ms).toISOString();
