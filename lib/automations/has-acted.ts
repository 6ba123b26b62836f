import type { Journal, StepEntry } from '../engine/record/journal.ts';
import { changesByTool } from '../engine/run/tools/call.ts';
import { operations } from '../service/partner/operations/operations.ts';

/** Whether the job has changed something in the service, or may have. */
export function hasActed(journal: Journal): boolean {
  return journal.openSteps().length > 0 || journal.entries().some(isChange);
}

function isChange({ status, calls, sent }: StepEntry): boolean {
  if (changesByTool(calls)) return status === 'done' || status === 'begun' || sent !== undefined;
  return status === 'done' && operations.has(calls) && operations.get(calls)?.effect !== 'read';
}
