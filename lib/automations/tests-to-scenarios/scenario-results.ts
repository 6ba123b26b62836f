import * as z from 'zod/mini';
import { changeItem } from '../../state/table/counted-item.ts';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import { orderOf, type WorkflowRun } from './jobs.ts';
import type { ScenarioResult } from './tally.ts';

/** The result of a scenario in the newest run of a workflow. */
const said = z.object({
  place: z.string(),
  commit: z.string(),
  hasFailed: z.boolean(),
  coverage: z.optional(z.number()),
  /** How many tests the scenario had in the last successful run. */
  tests: z.optional(z.int()),
});
type Said = z.output<typeof said>;
/** Keyed by repository and workflow file. `notes` counts the changes. */
const scenarioResults = z.object({ notes: z.int(), byWorkflow: z.record(z.string(), said) });

/** The state to which a scenario is set. The verdict with the later place is newer. */
export interface ScenarioVerdict {
  place: string;
  hasFailed: boolean;
  /** From 0 to 100. */
  coverage: number | undefined;
}

/**
 * Stores a run's result of a scenario. On the newest commit, any failure among the newest runs of its workflows counts.
 *
 * @param isWhole true if all artifacts were read. A failed run may have lost a job before it uploaded its report, so
 *   after a failed run, a scenario has passed only if it has as many tests as in the last successful run
 */
export async function noteResult(
  table: Table,
  connection: string,
  repository: string,
  run: WorkflowRun,
  { id, passed, failed, skipped, coverage }: ScenarioResult,
  isWhole: boolean,
): Promise<ScenarioVerdict | 'newer' | 'not whole' | 'all skipped'> {
  if (passed + failed === 0) return 'all skipped';
  const [workflow, tests] = [`${repository} ${run.workflow}`, passed + failed + skipped];
  const now = { place: orderOf(run), commit: run.head_sha, hasFailed: failed > 0 };
  let why: 'newer' | 'not whole' = 'newer';
  const noted = await changeItem(table, keys.scenarioResults(connection, String(id)), scenarioResults, (before) => {
    const { notes, byWorkflow } = before ?? { notes: 0, byWorkflow: {} };
    const known = byWorkflow[workflow];
    const [newest] = sorted(byWorkflow);
    const isOld = newest !== undefined && newest.place > now.place && newest.commit !== now.commit;
    why = isOld || (known !== undefined && known.place > now.place) ? 'newer' : 'not whole';
    const mayHavePassed = isWhole && (run.conclusion === 'success' || tests >= (known?.tests ?? Infinity));
    if (why === 'newer' || (failed === 0 && !mayHavePassed)) return undefined;
    const most = isWhole && run.conclusion === 'success' ? tests : known?.tests;
    const next: Said = {
      ...now,
      ...(typeof coverage === 'number' && { coverage }),
      tests: most,
    };
    return { notes: known?.place === now.place ? notes : notes + 1, byWorkflow: { ...byWorkflow, [workflow]: next } };
  });
  return noted ? verdictOf(noted) : why;
}

/** Sorts the newest first. */
const sorted = (byWorkflow: Readonly<Record<string, Said>>) =>
  Object.values(byWorkflow).sort((a, b) => (a.place < b.place ? 1 : -1));

function verdictOf({ notes, byWorkflow }: z.output<typeof scenarioResults>): ScenarioVerdict {
  const [newest, ...others] = sorted(byWorkflow);
  const ofCommit = [newest, ...others].filter((one) => one !== undefined && one.commit === newest?.commit);
  return {
    place: `${newest?.place}-${String(notes).padStart(8, '0')}`,
    hasFailed: ofCommit.some((one) => one?.hasFailed),
    coverage: ofCommit.find((one) => one?.coverage !== undefined)?.coverage,
  };
}
