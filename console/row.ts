import {
  continuesAt,
  endedAt,
  isOutcomeUnknown,
  type Job,
  newsOf,
  shortName,
  waitOf,
} from '../lib/engine/record/job.ts';

/** A job as the lists show it. */
export function rowOf(job: Job) {
  const { id, status, automation, connection, lane, summary, entity, asked, cause, createdAt } = job;
  const finishedAt = endedAt(job);
  const when = status === 'waiting' ? continuesAt(job) : undefined;
  return {
    id,
    /** A part of the id, as terminal and messages show it. */
    shortName: shortName(id),
    status,
    automation,
    connection,
    lane,
    /** The event in one line. */
    summary,
    subject: entity,
    person: asked?.by?.id ?? cause?.person,
    createdAt,
    finishedAt,
    /** How long it waited for a person. That is not part of how long it took. */
    personMs: waitedForPerson(job) || undefined,
    /** What came of it, or why it waits or is parked. */
    news: newsOf(job),
    discarded: job.discarded && true,
    outcomeUnknown: isOutcomeUnknown(job) || undefined,
    keyRefused: waitOf(job)?.for === 'key' || undefined,
    ...(typeof when === 'object' && { until: when.at, isForecast: when.isForecast || undefined }),
  };
}

/** Only of the newest waits: a job keeps no more of them. */
function waitedForPerson({ waits }: Job): number {
  const ofPeople = (waits?.newest ?? []).filter(({ for: kind }) => kind === 'operator');
  return ofPeople.reduce((sum, { from, until = from }) => sum + until - from, 0);
}
