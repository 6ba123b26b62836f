import type { StepEntry } from '../engine/record/journal.ts';
import { changesByTool } from '../engine/run/acting.ts';
import type { JobSteps } from '../engine/run/job-steps.ts';
import { operations } from '../service/partner/operations/operations.ts';

const confirmed = new WeakSet<JobSteps>();

/** Notes for this run that GitHub confirms the author and the time of the command. */
export const confirm = (steps: JobSteps): unknown => confirmed.add(steps);

/**
 * Returns true only in the run that confirmed it. Kept in memory, not in the journal, because more roles may write the
 * journal than may act as a person.
 */
export const isConfirmed = (steps: JobSteps): boolean => confirmed.has(steps);

/**
 * Returns true if the job has changed something in the service, or may have, as far as this run knows. If another run
 * has done so since, this run has lost its lease, and can neither send nor end.
 */
export function hasActed({ journal }: JobSteps): boolean {
  return journal.openSteps().length > 0 || journal.entries().some(isChange);
}

function isChange({ status, calls, sent }: StepEntry): boolean {
  if (changesByTool(calls)) return status === 'done' || status === 'begun' || sent !== undefined;
  return status === 'done' && operations.has(calls) && operations.get(calls)?.effect !== 'read';
}
