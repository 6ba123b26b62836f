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
  /** How many runs failed in a row; a re-run does not count as another one. */
  runs: z.int(),
  /** How many of its tests were in the last of them. */
  tests: z.optional(z.int()),
  /** The run after which a defect was due, by its place. */
  dueAfter: z.optional(z.string()),
});
/** The test cases that fail in a workflow on a branch, by their names. A case that passes is forgotten. */
const failingCases = z.object({ place: z.string(), failing: z.record(z.string(), failing) });

/** An item of the table holds 400 KB. */
const MOST_FAILING = 500;

/**
 * Takes the results of a run, unless a newer one was taken. That a defect is due is written together with them, so that
 * one run alone creates it, whatever becomes of its job. A repeat returns the same.
 *
 * @param isWhole as in scenario-results.ts: after a run that failed, a case has passed only if none of its tests is missing
 * @returns the cases that failed in two runs in a row, and had no defect before this one
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
