import { openJournal } from '../../lib/engine/record/journal.ts';
import { createMarkers } from '../../lib/engine/record/markers.ts';
import { decideLink } from '../../lib/operators/decide-link.ts';
import type { TestRelay } from '../relay.ts';

/** As an operator does it with `relay issue --clear`. */
export function clearLink({ stores, runtime, clock }: TestRelay, id: number) {
  const read = () => clock.now;
  return decideLink({ entity: `issue-${9_000 + id}`, name: `Codertocat/Hello-World#${id}` }, 'clear', {
    ...stores,
    config: runtime.config,
    journal: (job) => openJournal(stores.table, job, read),
    markers: createMarkers(stores.secrets),
    by: 'alice',
    clock: read,
  });
}
