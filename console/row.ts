import {
  continuesAt,
  endedAt,
  isOutcomeUnknown,
  type Job,
  newsOf,
  shortName,
  waitOf,
} from '../lib/engine/record/job.ts';
import { createShowJob } from '../lib/people/names.ts';
import type { OperatedRelay } from './relay.ts';

/** @param shown the job with names in place of ids */
export function rowOf(job: Job, shown = job) {
  const { id, status, automation, connection, lane, entity, asked, cause, createdAt } = job;
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
    summary: shown.summary,
    subject: entity,
    person: asked?.by?.id ?? cause?.person,
    personName: shown.cause?.person,
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

/** Jobs as the lists show them. */
export async function rowsOf(jobs: readonly Job[], { stores }: OperatedRelay) {
  const show = createShowJob(stores);
  return Promise.all(jobs.map(async (job) => rowOf(job, await show(job))));
}

/** Only of the newest waits: a job keeps no more of them. */
function waitedForPerson({ waits }: Job): number {
  const ofPeople = (waits?.newest ?? []).filter(({ for: kind }) => kind === 'operator');
  return ofPeople.reduce((sum, { from, until = from }) => sum + until - from, 0);
}
