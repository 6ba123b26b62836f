import { findRepository } from '../../config/settings.ts';
import { NeedsOperator, RetryAt } from '../../engine/record/interruption.ts';
import { isOver, type Job } from '../../engine/record/job.ts';
import { type Arrived, dismiss, heldBy, type IssueName, leave, make, tell } from '../../links/link-life.ts';
import type { Context } from '../context.ts';
import { fateOfClaim } from './claim-fate.ts';
import { appliedOf } from './defect-text.ts';
import type { IssueLink } from './issue-ref.ts';

/** How soon a job looks again while another job creates a defect. */
export const LOOK_AGAIN_MS = { running: 10_000, waiting: 60_000 };

/** Handles transfers for a job: where its issue is now, and who decides if there are two defects. */
export function createTransfers(context: Pick<Context, 'config' | 'links' | 'jobs' | 'journal' | 'clock'>) {
  const { config, links, jobs, clock } = context;
  return { locate, settleArrived };

  /**
   * Follows an issue's transfers to the last one, or to one that a job has to settle.
   * @returns the issue with its link
   */
  async function locate(first: string, job: Job): Promise<IssueName & { link: IssueLink }> {
    const passed = new Set<string>();
    for (let entity = first, name = job.entity; ; ) {
      const link = await links.get(entity);
      if (link.life !== 'moved' || link.arrived) return { entity, name, link };
      if (passed.has(entity))
        throw new NeedsOperator(`${name} was transferred back; run npx partner-relay issue ${name} --clear`);
      passed.add(entity);
      ({ entity, name } = link.to);
    }
  }

  /**
   * Settles a claim or defect that arrived at a link but could not move to it. It moves if the link is free now. If
   * both issues have a defect, or the issue came back, one job is parked with the names of both.
   * @returns `changed` if a link has changed; otherwise why nothing is done, because another job has told a person
   * @throws {NeedsOperator} if a person has to decide
   * @throws {RetryAt} while a job creates the defect of the issue that arrived
   */
  async function settleArrived(
    job: Job,
    { entity, name }: IssueName,
    link: IssueLink,
    arrived: Arrived,
  ): Promise<'changed' | { why: string }> {
    const { from } = arrived;
    const old = await links.get(from);
    const { claim, defect } = heldBy(old);
    const here = link.newest?.name ?? name;
    const there = old.newest?.name ?? from;
    if (link.life === 'moved' && link.to.entity === from) {
      const which = `${here} was transferred to ${link.to.name} and came back`;
      return tellPerson(
        `${which}; decide with npx partner-relay issue ${here} --set ${defect?.id ?? '<defect id>'} or --clear`,
      );
    }
    const own = heldBy(link);
    const isOwn = claim?.marker === own.claim?.marker || (defect && String(defect.id) === String(own.defect?.id));
    if (!claim || isOwn) return change(dismiss);
    if (link.life !== 'made') {
      await links.move(from, link.life === 'moved' ? link.to : { entity, name: here }, connectionOf);
      return change(dismiss);
    }
    const moved = `${here} has defect ${link.defect.id}, and ${there}, which was transferred to it,`;
    const decide = `decide with npx partner-relay issue ${here} --set <defect id>`;
    if (defect) return tellPerson(`${moved} has defect ${defect.id}; ${decide}, and close the other one`);
    const fate = await fateOfClaim(claim.by, context);
    switch (fate.fate) {
      case 'made': {
        const { id, sent } = fate.created;
        await links.change(from, (old) => make(old, claim.by, { id, applied: appliedOf(sent) }), old);
        return 'changed';
      }
      case 'under way': {
        if (!fate.isIdle) {
          const dueAt = clock() + LOOK_AGAIN_MS[fate.job.status === 'running' ? 'running' : 'waiting'];
          const why = `${claim.by} is creating the defect of ${there}`;
          throw new RetryAt(dueAt, why, { releasesQueueGroup: true, waitsFor: 'job' });
        }
        return leaves();
      }
      case 'nothing':
        return leaves();
      default:
        return tellPerson(`${moved} may have one from the job ${claim.by}; ${decide}, and replay this job`);
    }

    async function change(transition: (link: IssueLink) => IssueLink | undefined): Promise<'changed'> {
      await links.change(entity, transition, link);
      return 'changed';
    }

    /** Marks the old issue's link as moved. Its claim was not used; the claim's job then finds this issue's defect. */
    async function leaves(): Promise<'changed'> {
      await links.change(from, (old) => leave(old, { entity, name: here }), old);
      return 'changed';
    }

    async function tellPerson(why: string): Promise<{ why: string }> {
      const teller = arrived.toldBy === job.id ? undefined : arrived.toldBy && (await jobs.get(arrived.toldBy));
      const isTold = teller && !isOver(teller) && !teller.discarded;
      if (isTold) return { why: `nothing done: ${teller.id} is parked, because ${why}` };
      await links.change(entity, (link) => tell(link, job.id));
      throw new NeedsOperator(why);
    }
  }

  function connectionOf(name: string): string | undefined {
    return findRepository(config, name.replace(/#.*/, ''))?.connection;
  }
}
