import { decideLink } from '../../lib/operators/decide-link.ts';
import type { TestRelay } from '../relay.ts';

/** Clears a link as `partner-relay issue --clear` does. */
export function clearLink({ stores, runtime, clock }: TestRelay, id: number) {
  return decideLink({ entity: `issue-${9_000 + id}`, name: `Codertocat/Hello-World#${id}` }, 'clear', {
    ...stores,
    config: runtime.config,
    by: 'alice',
    clock: () => clock.now,
  });
}
