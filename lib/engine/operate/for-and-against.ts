import { localTime } from '../../dates.ts';
import { operations } from '../../service/partner/operations/operations.ts';
import type { OpenCreation } from '../record/read-job.ts';
import type { Send } from '../record/sends.ts';

/** What speaks for and against that an open creation was carried out, in one sentence. */
export function forAndAgainst(creation: OpenCreation, sends: readonly Send[]): string {
  return `It may exist, because ${unclearAnswer(sends)}; ${against(creation)}.`;
}

function unclearAnswer(sends: readonly Send[]): string {
  const unclear = sends.findLast(({ calls, came }) => calls === undefined && UNCLEAR.has(came));
  return unclear?.status === undefined
    ? 'the request left and no answer came, which can also happen after the work'
    : `the service answered with status ${unclear.status}, which can also happen after the work`;
}

const UNCLEAR: ReadonlySet<Send['came']> = new Set(['no answer', 'server error', 'unreadable', 'contradictory']);

function against({ operation, marker, searches, lastSearch, executableUntil }: OpenCreation): string {
  const found = operations.get(operation)?.found;
  if (marker === undefined || !found)
    return 'nothing shows that it does not, because the relay has no way to search for it';
  if (searches === 0) return 'nothing shows yet that it does not, because no search for it has come to an end';
  if (!lastSearch?.isComplete)
    return `little shows that it does not, because the relay cannot read all of ${found.list}`;
  const { at, newest } = lastSearch;
  const latest =
    newest === undefined
      ? 'the list does not say when its entries were created, so it may lag behind'
      : `the newest entry of the list was created at ${newest} by the service's clock`;
  const read = `it may not, because no ${found.field} in ${found.list} had its marker when all of the list was read at ${localTime(at)}`;
  return `${read}: the service could carry it out until ${localTime(executableUntil)}, and ${latest}`;
}
