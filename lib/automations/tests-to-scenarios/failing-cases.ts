import * as z from 'zod/mini';
import { changeItem } from '../../state/table/counted-item.ts';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import { type FailingTest, runRef } from '../failing-tests-to-defect/jobs.ts';
import { orderOf, type WorkflowRun } from './jobs.ts';
import { type CaseResult, keyOf } from './tally.ts';

const failing = z.object({
  first: runRef,
  last: runRef,
  /** How many runs failed in a row. A re-run does not count as another run. */
  runs: z.int(),
  /** How many of the case's tests the last of these runs had. */
  tests: z.optional(z.int()),
  /** The place of the run after which a defect was due. */
  dueAfter: z.optional(z.string()),
});
/** The failing test cases of a workflow on a branch, by name. A case that passes is removed. */
const failingCases = z.object({ place: z.string(), failing: z.record(z.string(), failing) });

/** Limits the item, which holds 400 KB. */
const MOST_FAILING = 500;

/**
 * Stores the results of a run, unless results of a newer run are stored. The same write records that a defect is due,
 * so that exactly one run creates it, however its job ends. A repeat returns the same cases.
 *
 * @param isWhole as in scenario-results.ts: after a failed run, a case has passed only if none of its tests is missing
 * @returns the cases that failed in two runs in a row and had no defect before this run
 */
export async function takeFailing(
  table: Table,
  repository: string,
  run: WorkflowRun,
  cases: readonly CaseResult[],
  isWhole: boolean,
): Promise<FailingTest[]> {
  const place = orderOf(run);
  const last = { id: run.id, number: run.run_number, url: run.html_url };
  const key = keys.failingCases(repository, run.workflow, run.head_branch ?? '');
  let after: z.output<typeof failingCases> | undefined;
  await changeItem(table, key, failingCases, (before = { place, failing: {} }) => {
    after = before;
    if (before.place > place) return undefined;
    const now = new Map(Object.entries(before.failing));
    for (const { result, tests, ...one } of cases) {
      const known = now.get(keyOf(one));
      const hasPassed = isWhole && (run.conclusion === 'success' || tests >= (known?.tests ?? 0));
      const runs = (known?.runs ?? 0) + (known?.last.id === run.id ? 0 : 1);
      const dueAfter = known?.dueAfter ?? (runs > 1 ? place : undefined);
      if (result === 'passed' && hasPassed) now.delete(keyOf(one));
      else if (result === 'failed' && (known || now.size < MOST_FAILING)) {
        now.set(keyOf(one), { first: known?.first ?? last, last, runs, tests, dueAfter });
      }
    }
    after = { place, failing: Object.fromEntries(now) };
    return after;
  });
  return cases.flatMap(({ kind, id, title, result }) => {
    const { first = last, dueAfter } = after?.failing[keyOf({ kind, id })] ?? {};
    return result === 'failed' && dueAfter === place ? [{ kind, id, title, first, last }] : [];
  });
}
