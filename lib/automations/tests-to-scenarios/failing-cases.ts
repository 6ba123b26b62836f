import * as z from 'zod/mini';
import { changeItem } from '../../state/table/counted-item.ts';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import { type FailingTest, runRef } from '../failing-tests-to-defect/draft.ts';
import { orderOf, type WorkflowRun } from './draft.ts';
import { type CaseResult, keyOf } from './tally.ts';

const failing = z.object({
  first: runRef,
  last: runRef,
  /** How many runs failed in a row; a re-run does not count as another one. */
  runs: z.int(),
  /** The job that creates its defect. */
  jobId: z.optional(z.string()),
});
/** The test cases that fail in a workflow on a branch, by their names. A case that passes is forgotten. */
const failingCases = z.object({ place: z.string(), failing: z.record(z.string(), failing) });

/** An item of the table holds 400 KB. */
const MOST_FAILING = 500;

const itemOf = (repository: string, { workflow, head_branch }: WorkflowRun) =>
  keys.failingCases(repository, workflow, head_branch ?? '');

/**
 * Takes the results of a run, unless a newer one was taken.
 * @returns the cases that failed in two runs in a row and have no defect yet
 */
export async function takeFailing(
  table: Table,
  repository: string,
  run: WorkflowRun,
  cases: readonly CaseResult[],
): Promise<FailingTest[]> {
  const place = orderOf(run);
  const last = { id: run.id, number: run.run_number, url: run.html_url };
  const taken = await changeItem(table, itemOf(repository, run), failingCases, (before = { place, failing: {} }) => {
    if (before.place > place) return undefined;
    const now = new Map(Object.entries(before.failing));
    for (const one of cases) {
      const known = now.get(keyOf(one));
      const runs = known && known.runs + (known.last.id === run.id ? 0 : 1);
      if (one.result === 'passed') now.delete(keyOf(one));
      else if (known && runs) now.set(keyOf(one), { ...known, last, runs });
      else if (now.size < MOST_FAILING) now.set(keyOf(one), { first: last, last, runs: 1 });
    }
    return { place, failing: Object.fromEntries(now) };
  });
  return cases.flatMap(({ result, ...one }) => {
    const { first = last, runs = 0, jobId } = taken?.failing[keyOf(one)] ?? {};
    return result === 'failed' && runs > 1 && jobId === undefined ? [{ ...one, first, last }] : [];
  });
}

/** Notes the job that creates the defect of these tests. */
export async function noteDefect(
  table: Table,
  repository: string,
  run: WorkflowRun,
  tests: readonly FailingTest[],
  jobId: string,
): Promise<void> {
  const names = new Set(tests.map(keyOf));
  await changeItem(table, itemOf(repository, run), failingCases, (state) => {
    const all = Object.entries(state?.failing ?? {});
    const failing = all.map(([name, one]) => [name, names.has(name) ? { ...one, jobId } : one]);
    return state && { ...state, failing: Object.fromEntries(failing) };
  });
}
