import type { Job } from '../engine/record/job.ts';
import { executableUntil } from '../service/partner/signed-request.ts';

/**
 * Until when the service may carry out what this run of a job sends, in epoch milliseconds: a run signs nothing after
 * its lease has ended.
 */
export const mayArriveUntil = ({ lease }: Job, now: number) => executableUntil(lease?.until ?? now);
