import { findRepository } from '../../config/find-repository.ts';
import { NotDone, RetryAt } from '../../engine/record/interruption.ts';
import type { Job } from '../../engine/record/job.ts';
import type { Automation } from '../../engine/run/automation.ts';
import { heldBy } from '../../links/link-life.ts';
import type { Context } from '../context.ts';
import { creationOf, fateOfClaim } from '../issue-to-defect/claim-fate.ts';
import { type IssueInput, issueJobs } from '../issue-to-defect/draft.ts';
import { planIssue } from '../issue-to-defect/issue-plan.ts';
import type { IssueFate } from './backfills.ts';
import { PAUSED, PAUSED_LOOKS_EVERY_MS } from './draft.ts';

/** How often an issue is looked at whose defect another job makes. */
const OTHER_JOB_MS = 10 * 60_000;

/**
 * Runs the jobs of issues. Those of a backfill wait while it is paused, end if it was stopped, and note the result of
 * their issues.
 */
export function ofBackfill(automation: Automation, context: Context): Automation {
  const { backfills, journal, links, clock, config } = context;

  async function ensureRunning(
    { id, decisions }: Job,
    { entity, repository }: IssueInput,
    startedAt: number,
  ): Promise<void> {
    const found = await backfills.get(repository);
    const isOver = found?.startedAt !== startedAt || found.status === 'stopped';
    if (!isOver && found.status !== 'paused') return;
    // An operator wants this issue, although the rest of the backfill is over.
    if (isOver && decisions?.newest.at(-1)?.what === 'replayed') return;
    // What was begun has to be settled. Jobs of events may have left the defect to the job that holds the claim.
    if (creationOf(await journal(id)) !== 'none' || heldBy(await links.get(entity)).claim?.by === id) return;
    if (isOver) throw new NotDone('The backfill was stopped.');
    throw new RetryAt(clock() + PAUSED_LOOKS_EVERY_MS, PAUSED, { releasesQueueGroup: true, waitsFor: 'operator' });
  }

  async function fateOf(job: Job, { entity, repository }: IssueInput) {
    const link = await links.get(entity);
    const found = findRepository(config, repository);
    if (!found?.issueToDefect) return { fate: 'left' as const };
    const { name, connection, issueToDefect: settings } = found;
    const view = { job, repository: { name, connection, settings } };
    const plan = await planIssue(link, view, (jobId) => fateOfClaim(jobId, context));
    if (plan.does === 'nothing') return plan;
    // Unless it was stopped, a newer state came meanwhile, and the job of its event applies it.
    const isDone = plan.does === 'update' && (await backfills.get(repository))?.status !== 'stopped';
    return { fate: isDone ? ('done' as const) : ('left' as const) };
  }

  return {
    name: automation.name,
    async run(job, steps) {
      const input = issueJobs.inputOf(job);
      if (input.backfill) await ensureRunning(job, input, input.backfill.startedAt);
      return automation.run(job, steps);
    },
    async letGo(job, ending, isHeld) {
      await automation.letGo?.(job, ending, isHeld);
      const input = issueJobs.inputOf(job);
      const { repository, issueNumber: number, backfill } = input;
      if (!backfill) return;
      const { fate, why } = await endOf(job, input, ending);
      if (fate === 'under way')
        throw new RetryAt(clock() + OTHER_JOB_MS, why ?? '', { releasesQueueGroup: true, waitsFor: 'job' });
      const ended = { number, jobId: job.id, fate, ...(why !== undefined && { why }) };
      await backfills.note({ repository, startedAt: backfill.startedAt }, ended);
    },
  };

  async function endOf(
    job: Job,
    input: IssueInput,
    ending: 'succeeded' | 'parked',
  ): Promise<{ fate: IssueFate | 'under way'; why?: string }> {
    if (ending === 'parked' && !job.discarded) return { fate: 'parked' };
    const end = await fateOf(job, input);
    // It ends now, even if another job still makes the defect.
    if (job.discarded && end.fate !== 'done') return { fate: 'left', why: `discarded: ${job.discarded.reason}` };
    return end;
  }
}
