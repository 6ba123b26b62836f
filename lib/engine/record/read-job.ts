import { executableUntil } from '../../service/partner/signed-request.ts';
import type { Table } from '../../state/table/table.ts';
import type { Job } from './job.ts';
import type { JobStore } from './job-store.ts';
import { type OpenRequest, openJournal, type Search, type StepEntry } from './journal.ts';

/** A creation whose outcome is open, without its bytes. Times are epoch milliseconds. */
export interface OpenCreation {
  step: string;
  /** `defects/create`. */
  operation: string;
  signedAt: number;
  /** Until then, the service may still execute it. */
  executableUntil: number;
  /** The text by which the relay searches for it; missing if it cannot. */
  marker?: string;
  /** Since when the relay searches instead of sending. */
  searchedSince?: number;
  /** The number of searches without a result. */
  searches: number;
  lastSearch?: Search;
  /** An operator decided to create it again. */
  again: boolean;
}

/** Everything that is known of a job, for people. */
export interface JobView {
  job: Job;
  /** In the order in which they began. A step that waits for a later run is `begun`. */
  steps: StepEntry[];
  openCreations: OpenCreation[];
}

/** @returns undefined if there is no such job */
export async function readJob(
  id: string,
  { jobs, table, clock }: { jobs: JobStore; table: Table; clock: () => number },
): Promise<JobView | undefined> {
  const job = await jobs.get(id);
  if (!job) return undefined;
  const journal = await openJournal(table, id, clock);
  const entries = journal.entries();
  const waiting = (job.unfinished ?? []).filter(({ step }) => journal.entry(step)?.status !== 'done');
  const names = new Set(waiting.map(({ step }) => step));
  const steps: StepEntry[] = [
    ...entries.filter(({ step }) => !names.has(step)),
    ...waiting.map((step) => ({ ...journal.entry(step.step), ...step, status: 'begun' as const })),
  ];
  const openCreations = journal.openSteps().flatMap((step) => {
    const request = journal.openRequest(step);
    return request ? [openCreation(step, journal.entry(step)?.calls ?? step, request)] : [];
  });
  return { job, steps: steps.sort((a, b) => a.startedAt - b.startedAt), openCreations };
}

function openCreation(step: string, calls: string, open: OpenRequest): OpenCreation {
  const { request, operation = calls, found, lookFrom, searches, lastSearch, again = false } = open;
  const { signedAt } = request;
  return {
    step,
    operation,
    signedAt,
    executableUntil: executableUntil(signedAt),
    searches,
    again,
    ...(found && { marker: found.marker }),
    lastSearch,
    searchedSince: lookFrom,
  };
}
