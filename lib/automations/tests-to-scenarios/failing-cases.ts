import * as z from 'zod/mini';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import { createCountedItems } from './counted-item.ts';
import type { WorkflowRun } from './draft.ts';
import { placeOf } from './scenario-states.ts';
import { type CaseResult, keyOf as nameOf } from './tally.ts';

const runRef = z.object({ id: z.int(), number: z.int(), url: z.string() });
const failing = z.object({
  first: runRef,
  last: runRef,
  /** How many runs failed in a row; a re-run is none of its own. */
  runs: z.int(),
  /** The job that creates its defect. */
  jobId: z.optional(z.string()),
});
const failingCases = z.object({ place: z.string(), failing: z.record(z.string(), failing) });

/** A case that failed in two runs in a row and has no defect yet. */
export type DueCase = CaseResult & Pick<z.output<typeof failing>, 'first' | 'last'>;

/** An item of the table holds 400 KB. */
const MOST_FAILING = 500;

export interface FailingCases {
  /** Takes the results of a run, unless a newer one was taken. @returns the cases that a defect is due for */
  take(run: WorkflowRun, cases: readonly CaseResult[]): Promise<DueCase[]>;
  /** Notes the job that creates the defect of these cases. */
  note(run: WorkflowRun, keys: readonly string[], jobId: string): Promise<void>;
}

/** The test cases that fail in a workflow on a branch. A case that passes is forgotten. */
export function createFailingCases(table: Table, repository: string): FailingCases {
  const items = createCountedItems(table, failingCases);
  const keyOf = ({ workflow, branch }: WorkflowRun) => keys.failingCases(repository, workflow, branch ?? '');

  return {
    async take(run, cases) {
      const place = placeOf(run);
      const { id, number, url } = run;
      const last = { id, number, url };
      const taken = await items.change(keyOf(run), (before = { place, failing: {} }) => {
        if (before.place > place) return undefined;
        const now = new Map(Object.entries(before.failing));
        for (const { result, ...one } of cases) {
          const key = nameOf(one);
          const known = now.get(key);
          if (result === 'passed') now.delete(key);
          else if (known) now.set(key, { ...known, last, runs: known.last.id === id ? known.runs : known.runs + 1 });
          else if (now.size < MOST_FAILING) now.set(key, { first: last, last, runs: 1 });
        }
        return { place, failing: Object.fromEntries(now) };
      });
      return cases.flatMap((one) => {
        const known = taken?.failing[nameOf(one)];
        const isDue = one.result === 'failed' && known && known.runs > 1 && known.jobId === undefined;
        return isDue ? [{ ...one, first: known.first, last: known.last }] : [];
      });
    },
    async note(run, keys, jobId) {
      await items.change(keyOf(run), (state) => {
        if (!state) return undefined;
        const noted = keys.flatMap((key) => {
          const known = state.failing[key];
          return known ? [[key, { ...known, jobId: known.jobId ?? jobId }]] : [];
        });
        return { ...state, failing: { ...state.failing, ...Object.fromEntries(noted) } };
      });
    },
  };
}
