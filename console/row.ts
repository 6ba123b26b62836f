import {
  continuesAt,
  endedAt,
  isOutcomeUnknown,
  type Job,
  newsOf,
  questionOf,
  shortName,
  waitOf,
} from '../lib/engine/record/job.ts';
import { createShowJob } from '../lib/people/names.ts';
import type { OperatedRelay } from './relay.ts';
import { createAsNow } from './waits-on.ts';

/** @param shown the job with names instead of ids */
export function rowOf(job: Job, shown = job) {
  const { id, status, automation, connection, lane, entity, asked, cause, createdAt } = job;
  const finishedAt = endedAt(job);
  // A question has only the time at which it expires.
  const when = status === 'waiting' && !questionOf(job) ? continuesAt(job) : undefined;
  return {
    id,
    /** The part of the id that the terminal and messages show. */
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
    /** How long the job waited for a person, which does not count as its duration. */
    personMs: waitedForPerson(job) || undefined,
    /** How the job ended, or why it waits or is parked. */
    news: newsOf(job),
    discarded: job.discarded && true,
    outcomeUnknown: isOutcomeUnknown(job) || undefined,
    keyRefused: waitOf(job)?.for === 'key' || undefined,
    ...(typeof when === 'object' && { until: when.at, isForecast: when.isForecast || undefined }),
  };
}

/** The rows of jobs for the lists. */
export async function rowsOf(jobs: readonly Job[], { stores }: OperatedRelay) {
  const [show, asNow] = [createShowJob(stores), createAsNow(stores)];
  return Promise.all(
    jobs.map(async (job) => {
      const now = await asNow(job);
      return rowOf(now, await show(now));
    }),
  );
}

/** Counts only the newest waits, because a job keeps no more. */
function waitedForPerson({ waits }: Job): number {
  const ofPeople = (waits?.newest ?? []).filter(({ for: kind }) => kind === 'operator');
  return ofPeople.reduce((sum, { from, until = from }) => sum + until - from, 0);
}
