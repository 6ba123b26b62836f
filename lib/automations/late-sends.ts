import type { Job } from '../engine/record/job.ts';
import { EXECUTABLE_FOR_MS } from '../service/partner/signed-request.ts';

/** The service takes a signature for five minutes, by a clock that may be a minute late. */
const LATE_MS = EXECUTABLE_FOR_MS + 60_000;

/**
 * Until when the service may carry out what this run of a job sends, in epoch milliseconds: a run signs nothing after
 * its lease has ended.
 */
export const mayArriveUntil = ({ lease }: Job, now: number) => (lease?.until ?? now) + LATE_MS;
