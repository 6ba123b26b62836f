import type { IssueToDefectConfig } from '../../config/schema.ts';
import { NeedsOperator, RetryAt } from '../../engine/record/interruption.ts';
import type { Job } from '../../engine/record/job.ts';
import { LeaseLost } from '../../engine/record/job-store.ts';
import { markerIn } from '../../engine/record/markers.ts';
import type { JobSteps } from '../../engine/run/job-steps.ts';
import { type Claim, claim, type Defect, giveUp, make, takeOver } from '../../links/link-life.ts';
import { createDefect, listDefects } from '../../service/partner/operations/defects.ts';
import type { Context } from '../context.ts';
import { CREATE_STEP, creationOf, fateOfClaim } from './claim-fate.ts';
import { appliedOf, defectFields } from './defect-text.ts';
import { decideClaim, decideCreation, howToDecide, leaveOrPark, mayHaveCreated } from './issue-decisions.ts';
import { createIssueRefs, type IssueLink, type IssueRef } from './issue-ref.ts';
import { createTransfers, LOOK_AGAIN_MS } from './issue-transfers.ts';
import { issueJobs } from './jobs.ts';

/** How many pages of defects to search for the defect of an earlier claim holder. */
const SEARCH_PAGES = 20;

/** Creates the defect of an issue once, even if several jobs try. */
export function createMaking(context: Context) {
  const { links, journal, clock, markers } = context;
  const { readLink } = createIssueRefs(context);
  const { settleArrived } = createTransfers(context);
  return { makeDefect };

  /**
   * Creates the defect, unless it exists or another job creates it. If this job has already begun a creation, settles
   * it regardless of the current labels.
   * @returns why there is no defect; undefined if there is one, or if the link was moved
   */
  async function makeDefect(job: Job, place: IssueRef, steps: JobSteps): Promise<string | undefined> {
    const { entity, repository } = place;
    const view = { job, repository };
    // Renews the claim before the creation: an earlier run may still be active, and another job may be about to take
    // over an idle claim.
    let isRenewed = false;
    for (;;) {
      // The creation as this run knows it. If another run has begun one since, that run has the lease, so this run can
      // send nothing. Before this run gives up the claim, it reads the journal again.
      const creation = creationOf(steps.journal);
      const link = await readLink(place, steps);
      if (link.arrived && link.life !== 'claimed') {
        const settled = await settleArrived(job, place, link, link.arrived);
        if (settled === 'changed') continue;
        return settled.why;
      }
      if (link.life === 'moved' || link.life === 'made') return undefined;
      const isMine = link.life === 'claimed' && link.claim.by === job.id;
      if (link.life === 'claimed' && !isMine) {
        const why = await settleOther(job, link.claim, link, place);
        if (why !== undefined) return why;
        continue;
      }
      if (isMine && link.claim.inherited) {
        const { inherited } = link.claim;
        const id = await search(job, link.claim, place, steps);
        if (id !== undefined) {
          await links.change(entity, (link) => make(link, job.id, { id, applied: appliedOf(inherited) }));
          continue;
        }
      }
      if (isMine && link.arrived && creationOf(await journal(job.id)) === 'none') {
        // Another worker may take over once this lease has ended. It renews the claim before it sends anything.
        if (job.lease && clock() >= job.lease.until) throw new LeaseLost(job.id);
        if (await links.change(entity, (link) => giveUp(link, job.id), link)) continue;
      }
      const decision = decideCreation(link.newest, view);
      if (decision.does !== 'create' && !(isMine && creation !== 'none')) {
        if (!link.newest && entity === issueJobs.inputOf(job).entity)
          throw new NeedsOperator(
            `no event has shown the state of ${place.name} yet; change its labels, so that GitHub sends it, then replay the job`,
          );
        return leaveOrPark(decision);
      }
      if (!isMine && typeof creation === 'object')
        return `nothing to do: a person unlinked defect ${creation.id}, and the next event creates a new one`;
      if (!isMine || !isRenewed) {
        const marker = await markers.of('defect of an issue', entity, link.cleared?.times ?? 0);
        const own = { by: job.id, connection: job.connection, marker };
        isRenewed = (await links.change(entity, (link) => claim(link, own), link)) !== undefined;
        continue;
      }
      const defect = await create(job, link, link.claim, repository.settings, steps);
      await links.change(entity, (link) => make(link, job.id, defect));
    }
  }

  /**
   * Settles or takes over another job's claim, unless that job settles it itself.
   * @returns why the claim was left alone, or undefined
   * @throws {RetryAt} while a job with lower priority is about to create the defect
   */
  async function settleOther(job: Job, held: Claim, link: IssueLink, place: IssueRef): Promise<string | undefined> {
    const { by } = held;
    const change = (transition: (link: IssueLink) => IssueLink | undefined) =>
      links.change(place.entity, transition, link);
    const decision = decideClaim(held, await fateOfClaim(by, context), { job, repository: place.repository });
    switch (decision.does) {
      case 'take over': {
        const { does, ...claim } = decision;
        await change((link) => takeOver(link, by, { by: job.id, ...claim }));
        return undefined;
      }
      case 'make':
        await change((link) => make(link, by, decision.defect, job.id));
        return undefined;
      case 'wait':
        throw new RetryAt(clock() + LOOK_AGAIN_MS[decision.while], decision.why, {
          releasesQueueGroup: true,
          waitsFor: 'job',
        });
      case 'leave to it':
        return `nothing to do: ${decision.why}`;
      case 'leave open':
        return `nothing done: ${decision.why}`;
      case 'park':
        throw new NeedsOperator(decision.why);
    }
  }

  async function create(
    job: Job,
    link: IssueLink,
    { marker }: Claim,
    settings: IssueToDefectConfig,
    steps: JobSteps,
  ): Promise<Pick<Defect, 'id' | 'applied'>> {
    // After a transfer, the new link may have no state yet.
    const newest = link.newest ?? (await links.get(issueJobs.inputOf(job).entity)).newest;
    if (!newest) throw new NeedsOperator(`the link of ${job.entity} has no state of its issue`);
    const fields = defectFields(newest.state, marker, settings);
    const payload = { project_id: settings.projectId, ...fields };
    // When a person cleared the link, there was no defect, so older defects do not count.
    const notBefore = link.cleared?.at ?? Date.parse(newest.state.createdAt);
    const { id, sent } = await steps.create(CREATE_STEP, createDefect, payload, {
      marker,
      notBefore,
      decide: howToDecide(job),
    });
    return { id, applied: appliedOf(sent) };
  }
}

/** Searches the service for a defect that an earlier claim holder may have created. */
async function search(job: Job, { by, marker }: Claim, { repository: { settings } }: IssueRef, steps: JobSteps) {
  const { kept, whole } = await steps.list(
    `find-defect ${by}`,
    listDefects,
    { project_id: settings.projectId },
    ({ defect_id, description }) => (markerIn(description) === marker ? defect_id : undefined),
    (id) => id,
    SEARCH_PAGES,
  );
  if (kept[0] === undefined && !whole) {
    throw new NeedsOperator(
      `${mayHaveCreated(job)}: the relay did not find it, but cannot read all of ${listDefects.name}`,
    );
  }
  return kept[0];
}
