import { Refused } from '../../engine/record/interruption.ts';
import type { Job } from '../../engine/record/job.ts';
import type { Steps } from '../../engine/run/steps.ts';
import type { DefectName } from '../../links/relations.ts';
import { linkDefect } from '../../service/partner/operations/defects.ts';
import type { Target, TargetKind } from '../../target.ts';
import type { Context } from '../context.ts';

/**
 * What became of it.
 * - `linked`: by this job
 * - `known`: it was linked before, and nothing is sent again
 * - `left`: the job `by` links it, or may have done so and waits for a person
 */
export type Related = { became: 'linked' | 'known' } | { became: 'left'; by: string };

const FIELDS: Readonly<Record<TargetKind, 'task_id' | 'test_case_id' | 'test_step_id'>> = {
  task: 'task_id',
  'test case': 'test_case_id',
  'test step': 'test_step_id',
};

/**
 * Links a defect to a task, a test case or a test step. Each pair is sent once, whichever jobs ask for it: whether a
 * second link adds or replaces is not shown (docs/partner-api.md#what-is-not-shown).
 *
 * @throws {Refused} if the service does not take it; then the next job may try again
 */
export async function relateDefect(
  defect: DefectName,
  target: Target,
  {
    job,
    steps,
    relations,
    jobs,
    journal,
  }: { job: Job; steps: Steps } & Pick<Context, 'relations' | 'jobs' | 'journal'>,
): Promise<Related> {
  const relation = { ...target, by: job.id };
  const step = `link ${defect.id} to ${target.kind} ${target.id}`;
  const { by } = await relations.claim(defect, relation);
  if (by !== job.id) {
    const other = await jobs.get(by);
    const isDone = (await journal(by)).entry(step)?.status === 'done';
    if (isDone || !other || (other.status === 'succeeded' && !other.discarded)) return { became: 'known' };
    if (!other.discarded || !(await relations.takeOver(defect, relation, by))) return { became: 'left', by };
  }
  try {
    await steps.create(step, linkDefect, { defect_id: defect.id, [FIELDS[target.kind]]: target.id });
  } catch (error) {
    if (error instanceof Refused) await relations.release(defect, relation);
    throw error;
  }
  return { became: 'linked' };
}
