import { localTime } from '../../dates.ts';
import { operations } from '../../service/partner/operations/operations.ts';
import type { Table } from '../../state/table/table.ts';
import type { Job, OpenOutcome } from './job.ts';
import type { JobStore } from './job-store.ts';
import { type OpenRequest, openJournal, type Search, type StepEntry } from './journal.ts';
import { openOutcome } from './open-outcome.ts';
import { mayExist, type Send } from './sends.ts';

/** A creation with an unknown outcome, without the bytes of its request. Times are epoch milliseconds. */
export interface OpenCreation extends OpenOutcome {
  step: string;
  signedAt: number;
  /** The text by which the relay searches for the object; missing if it cannot search. */
  marker?: string;
  /** Since when the relay searches instead of sending. */
  searchedSince?: number;
  /** The number of searches without a result. */
  searches: number;
  lastSearch?: Search;
  /** An operator decided to create it again. */
  again: boolean;
}

/** Everything that the relay knows about a job, for people. */
export interface JobView {
  job: Job;
  /** In the order in which they began. A step that continues in a later run is `begun`. */
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
  return {
    step,
    ...openOutcome({ ...open, operation }),
    signedAt: request.signedAt,
    searches,
    again,
    ...(found && { marker: found.marker }),
    lastSearch,
    searchedSince: lookFrom,
  };
}

/** Lists the evidence for and against the execution of an open creation. */
export function forAndAgainst(creation: OpenCreation, sends: readonly Send[], now: number, time = localTime): string {
  const { signedAt } = creation;
  const asked = sends.filter(({ calls, sentAt }) => calls !== undefined && sentAt >= signedAt).length;
  return `It may exist: ${mayExist(sends, signedAt)}. ${against(creation, asked, now, time)}.`;
}

function against(creation: OpenCreation, asked: number, now: number, time: (ms: number) => string): string {
  const { operation, isSought, searches, lastSearch, until } = creation;
  const found = operations.get(operation)?.found;
  if (!isSought || !found) return 'The relay cannot search for it';
  const calls = asked === 0 ? '' : `: ${found.list} was asked ${asked === 1 ? 'once' : `${asked} times`}`;
  if (searches === 0) return `No search for it has finished yet${calls}`;
  if (!lastSearch?.isComplete) return `The relay did not find it, but cannot read all of ${found.list}`;
  const read = `In ${found.list} as read at ${time(lastSearch.at)}, no ${found.field} had its marker`;
  if (now < until) return `${read}. The list may be behind, and the service may create it until ${time(until)}`;
  const since = lastSearch.at < until ? ', and the relay has not searched since' : '';
  return `${read}. The service could create it until ${time(until)}${since}`;
}
