import type { Context, PlanContext } from '../automations/context.ts';
import { fateOfClaim } from '../automations/issue-to-defect/claim-fate.ts';
import { defectFields } from '../automations/issue-to-defect/defect-text.ts';
import { issueJobs } from '../automations/issue-to-defect/draft.ts';
import type { RelayConfig } from '../config/schema.ts';
import { findRepository } from '../config/settings.ts';
import { digestFields } from '../digest.ts';
import { type Job, type JobDraft, jobStatuses } from '../engine/record/job.ts';
import { takeDelivery } from '../intake/github/receive-delivery.ts';
import type { IssueState } from '../links/issue-state.ts';
import { heldBy, type Link } from '../links/link-life.ts';
import type { Links, Transition } from '../links/links.ts';
import type { GithubDelivery } from '../platforms/github/delivery.ts';
import { type IssuePlan, planIssue } from './issue-plan.ts';

export type PlannedDelivery = { summary: string } & (
  | { ignored: string }
  | {
      automation: string;
      connection: string;
      /** Undefined for automations whose calls depend on the service's answers: at least one. */
      plan: IssuePlan | undefined;
    }
);

/** Foresees what deliveries do under a configuration, one after the other. Nothing is written or sent. */
export type DeliveryPlanner = ReturnType<typeof createDeliveryPlanner>;

export function createDeliveryPlanner(config: RelayConfig, context: PlanContext & Pick<Context, 'own'>) {
  /** The links as they would be after the deliveries that were planned before. */
  const foreseen = new Map<string, Link<IssueState>>();
  const linkOf = async (entity: string) => foreseen.get(entity) ?? (await context.links.look(entity));

  async function change(entity: string, transition: Transition): Promise<Link<IssueState>> {
    const link = await linkOf(entity);
    const next = transition(link) ?? link;
    foreseen.set(entity, next);
    return next;
  }
  // What a transfer moves is not foreseen.
  const dry: Links = { ...context.links, begin: change, change, move: async () => {} };

  async function planJob(job: JobDraft): Promise<PlannedDelivery> {
    const { summary, automation, connection } = job;
    if (automation !== issueJobs.name) return { summary, automation, connection, plan: undefined };
    const { entity, repository } = job.input as { entity: string; repository: string };
    const found = findRepository(config, repository);
    const settings = found?.issueToDefect;
    if (!settings) return { summary, ignored: `${repository} is not configured for ${issueJobs.name}` };
    const link = await linkOf(entity);
    const { name, connection: own } = found;
    const view = { job: { ...job, connection: own }, repository: { name, connection: own, settings } };
    const plan = await planIssue(link, view, (jobId) => fateOfClaim(jobId, context));
    if (plan.does !== 'nothing' && link.newest) {
      const claim = heldBy(link).claim ?? { by: '', connection: own, marker: '' };
      const applied = digestFields(defectFields(link.newest.state, claim.marker, settings));
      const defect = { id: plan.does === 'update' ? plan.defectId : 'the new one', applied, updates: 0 };
      foreseen.set(entity, { newest: link.newest, life: 'made', claim, defect });
    }
    return { summary, automation, connection: own, plan };
  }

  return {
    /** @throws {PayloadError} for a delivery that cannot be read */
    async given(delivery: GithubDelivery): Promise<PlannedDelivery[]> {
      const planned: PlannedDelivery[] = [];
      const summary = `${delivery.event} ${String(delivery.payload.action ?? '')}`.trim();
      for (const one of await takeDelivery(delivery, { config, own: context.own })) {
        if ('ignored' in one) {
          planned.push({ summary, ignored: one.ignored });
          continue;
        }
        await one.beforeStoring?.(dry, async () => false);
        for (const job of one.jobs) planned.push(await planJob(job));
      }
      return planned.length > 0 ? planned : [{ summary, ignored: `no automation handles ${delivery.event} events` }];
    },
    /** An event of each issue that the newest jobs are about, with the state that the relay has stored. */
    async stored(mostJobs: number): Promise<PlannedDelivery[]> {
      const lists = await Promise.all(
        jobStatuses.map((status) => context.jobs.list(status, { limit: mostJobs, newestFirst: true })),
      );
      const newest = lists.flat().sort((a, b) => b.createdAt - a.createdAt);
      const ofIssues = new Map<string, Job>();
      for (const job of newest.slice(0, mostJobs)) {
        const { entity } = job.input as { entity?: string };
        if (job.automation === issueJobs.name && entity !== undefined && !ofIssues.has(entity))
          ofIssues.set(entity, job);
      }
      const planned: PlannedDelivery[] = [];
      for (const job of ofIssues.values()) {
        const { newest } = await linkOf(issueJobs.inputOf(job).entity);
        planned.push(await planJob({ ...job, summary: newest ? `${newest.name}: ${newest.state.title}` : job.entity }));
      }
      return planned;
    },
  };
}
