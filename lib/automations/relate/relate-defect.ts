import { Refused } from '../../engine/record/interruption.ts';
import type { Job } from '../../engine/record/job.ts';
import type { JobSteps } from '../../engine/run/job-steps.ts';
import type { DefectName } from '../../links/relations.ts';
import { linkDefect } from '../../service/partner/operations/defects.ts';
import type { RelationTarget } from '../../target.ts';
import type { Context } from '../context.ts';

export const TARGET_FIELDS = { task: 'task_id', 'test case': 'test_case_id', 'test step': 'test_step_id' } as const;

/**
 * Links a defect to a task, a test case or a test step. Each pair is sent once, even if several jobs request it:
 * decision 0038.
 *
 * @returns the id of the job that links the pair or has linked it, which is this job or an earlier one, and whether it
 *   has
 * @throws {Refused} if the service refuses the link; the next job may try again
 */
export async function relateDefect(
  defect: DefectName,
  target: RelationTarget,
  {
    job,
    steps,
    relations,
    jobs,
    journal,
  }: { job: Job; steps: JobSteps } & Pick<Context, 'relations' | 'jobs' | 'journal'>,
): Promise<{ by: string; isMade: boolean }> {
  const step = `link ${defect.id} to ${target.kind} ${target.id}`;
  let { by, isMade } = await relations.claim(defect, target, job.id);
  if (by !== job.id && !isMade && (await hasEndedWithout(by))) {
    ({ by, isMade } = await relations.claim(defect, target, job.id, by));
  }
  if (by !== job.id) return { by, isMade };
  try {
    await steps.create(step, linkDefect, { defect_id: defect.id, [TARGET_FIELDS[target.kind]]: target.id });
    if (!isMade) await relations.make(defect, target, job.id);
    return { by, isMade: true };
  } catch (error) {
    if (error instanceof Refused) await relations.release(defect, target, job.id);
    throw error;
  }

  /** Returns true if a job was discarded, or its record has expired, before it linked the pair. */
  async function hasEndedWithout(jobId: string): Promise<boolean> {
    const other = await jobs.get(jobId);
    const isOver = !other || other.discarded !== undefined;
    return isOver && (await journal(jobId)).entry(step)?.status !== 'done';
  }
}
