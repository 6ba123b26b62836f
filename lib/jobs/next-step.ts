import type { Job } from './job.ts';

/** What a person can do about a parked job. */
export interface NextStep {
  /** One sentence, the same everywhere: story, command line, console, notices and alarms. */
  text: string;
  /** The words after `npm run -s relay --` that lead further. */
  command: string;
}

/** For a job that is parked with an unknown outcome. */
export const DECIDE = 'Check in the service whether it was created, then decide with resolve.';
/** For every other parked job. */
export const FIX = 'Fix the cause, then continue the job with replay; completed steps are not repeated.';

/** @returns what to do about a parked job; undefined for any other job, because it needs no one */
export function nextStepOf({ id, parked }: Pick<Job, 'id' | 'parked'>): NextStep | undefined {
  if (!parked) return undefined;
  // `job` shows the evidence, and the exact commands of each decision.
  return parked.outcomeUnknown ? { text: DECIDE, command: `job ${id}` } : { text: FIX, command: `replay ${id}` };
}
