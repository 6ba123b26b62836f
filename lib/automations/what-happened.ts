import type { StepEntry } from '../engine/record/journal.ts';
import { changesByTool } from '../engine/run/acting.ts';
import type { JobSteps } from '../engine/run/job-steps.ts';
import { operations } from '../service/partner/operations/operations.ts';

const confirmed = new WeakSet<JobSteps>();

/** Notes that GitHub shows, in this run, that the person in the event wrote the command at that time. */
export const confirm = (steps: JobSteps): unknown => confirmed.add(steps);

/** This holds for one run only: more roles may write to the journal than may act as a person. */
export const isConfirmed = (steps: JobSteps): boolean => confirmed.has(steps);

/**
 * Whether the job has changed something in the service, or may have, as this run has read and written it. Where another run
 * has done so since, this one has lost its lease, and can neither send nor end.
 */
export function hasActed({ journal }: JobSteps): boolean {
  return journal.openSteps().length > 0 || journal.entries().some(isChange);
}

function isChange({ status, calls, sent }: StepEntry): boolean {
  if (changesByTool(calls)) return status === 'done' || status === 'begun' || sent !== undefined;
  return status === 'done' && operations.has(calls) && operations.get(calls)?.effect !== 'read';
}
