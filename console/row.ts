import { continuesAt, endedAt, isOutcomeUnknown, type Job, newsOf, shortName } from '../lib/engine/record/job.ts';
import type { JobRow } from './contract.ts';

/** A job as the lists show it. */
export function rowOf(job: Job): JobRow {
  const { id, status, automation, connection, lane, summary, entity, asked, cause, createdAt } = job;
  const finishedAt = endedAt(job);
  const when = status === 'waiting' ? continuesAt(job) : undefined;
  const personMs = waitedForPerson(job);
  const person = asked?.by?.id ?? cause?.person;
  return {
    id,
    shortName: shortName(id),
    status,
    automation,
    connection,
    lane,
    summary,
    subject: entity,
    createdAt,
    news: newsOf(job),
    ...(person !== undefined && { person }),
    ...(finishedAt !== undefined && { finishedAt }),
    ...(personMs > 0 && { personMs }),
    ...(job.notDone && { notDone: true }),
    ...(job.discarded && { discarded: true }),
    ...(isOutcomeUnknown(job) && { outcomeUnknown: true }),
    ...(typeof when === 'object' && { until: when.at, ...(when.isForecast && { isForecast: true as const }) }),
  };
}

/** Only of the newest waits: a job keeps no more of them. */
function waitedForPerson({ waits }: Job): number {
  const ofPeople = (waits?.newest ?? []).filter(({ for: kind }) => kind === 'operator');
  return ofPeople.reduce((sum, { from, until = from }) => sum + until - from, 0);
}
