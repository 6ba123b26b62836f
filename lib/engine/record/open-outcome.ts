import { operations } from '../../service/partner/operations/operations.ts';
import { executableUntil } from '../../service/partner/signed-request.ts';
import type { OpenOutcome } from './job.ts';
import type { Journal, OpenRequest } from './journal.ts';

/**
 * Returns how the relay can settle an open creation, which depends on the operation. This is the only place that
 * decides it: texts and operators' commands read it here, or from the copy in the parked job's record.
 */
export function openOutcome({ operation, request, found }: OpenRequest): OpenOutcome {
  const declared = operations.get(operation);
  return {
    operation,
    until: executableUntil(request.signedAt),
    isSought: found !== undefined && declared?.found !== undefined,
    isChecked: declared?.found !== undefined || declared?.detail !== undefined,
  };
}

/** Returns the open creation among the steps. If there are several, the one that the service may carry out last. */
export function openOutcomeOf(
  journal: Pick<Journal, 'openRequest'>,
  steps: readonly string[],
): OpenOutcome | undefined {
  const all = steps.flatMap((step) => journal.openRequest(step) ?? []);
  return all.map(openOutcome).toSorted((a, b) => b.until - a.until)[0];
}
