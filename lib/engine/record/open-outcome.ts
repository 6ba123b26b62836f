import { operations } from '../../service/partner/operations/operations.ts';
import { executableUntil } from '../../service/partner/signed-request.ts';
import type { OpenOutcome } from './job.ts';
import type { Journal, OpenRequest } from './journal.ts';

/**
 * What can be found out about a creation without a clear answer, by its operation. It is the only table of this: whatever
 * offers, explains or refuses a decision reads it, or the copy in the record of the parked job.
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

/** The open creation of a job; of several, the creation that takes longest to end. */
export function openOutcomeOf(journal: Pick<Journal, 'openSteps' | 'openRequest'>): OpenOutcome | undefined {
  const all = journal.openSteps().flatMap((step) => journal.openRequest(step) ?? []);
  return all.map(openOutcome).toSorted((a, b) => b.until - a.until)[0];
}
