import type { PlanContext } from '../automations/context.ts';
import { fateOfClaim } from '../automations/issue-to-defect/claim-fate.ts';
import { issueJobs } from '../automations/issue-to-defect/jobs.ts';
import type { RelayConfig } from '../config/schema.ts';
import { findRepository } from '../config/settings.ts';
import { type Job, jobStatuses } from '../engine/record/job.ts';
import { type IssuePlan, planIssue } from './issue-plan.ts';

export interface PlannedEvent {
  summary: string;
  connection: string;
  plan: IssuePlan;
}

/**
 * Predicts what an event of each issue would do under a configuration, from the stored state. Writes and sends nothing.
 *
 * @param mostJobs how many of the newest jobs of each status to include
 */
export async function planIssues(config: RelayConfig, context: PlanContext, mostJobs: number): Promise<PlannedEvent[]> {
  const lists = await Promise.all(
    jobStatuses.map((status) => context.jobs.list(status, { limit: mostJobs, newestFirst: true })),
  );
  const newest = lists.flat().sort((a, b) => b.createdAt - a.createdAt);
  const ofIssues = new Map<string, Job>();
  for (const job of newest.slice(0, mostJobs)) {
    const { entity } = job.input as { entity?: string };
    if (job.automation === issueJobs.name && entity !== undefined && !ofIssues.has(entity)) ofIssues.set(entity, job);
  }
  return Promise.all([...ofIssues].map(([entity, job]) => planned(entity, job)));

  async function planned(entity: string, job: Job): Promise<PlannedEvent> {
    const link = await context.links.look(entity);
    const { newest } = link;
    const summary = newest ? `${newest.name}: ${newest.state.title}` : job.entity;
    const { repository } = issueJobs.inputOf(job);
    const { name, connection = job.connection, issueToDefect: settings } = findRepository(config, repository) ?? {};
    if (name === undefined || !settings) {
      const why = `${repository} is not configured for ${issueJobs.name}`;
      return { summary, connection, plan: { does: 'nothing', why } };
    }
    const view = { job: { ...job, connection }, repository: { name, connection, settings } };
    return { summary, connection, plan: await planIssue(link, view, (jobId) => fateOfClaim(jobId, context)) };
  }
}
