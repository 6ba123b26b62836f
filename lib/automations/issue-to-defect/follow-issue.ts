import { isDeepStrictEqual } from 'node:util';
import { pageOf } from '../../config/pages.ts';
import { digest, digestFields } from '../../digest.ts';
import { RetryAt } from '../../engine/record/interruption.ts';
import type { Job } from '../../engine/record/job.ts';
import type { JobSteps } from '../../engine/run/job-steps.ts';
import { mayArriveUntil } from '../../engine/run/newest-wins.ts';
import { beginUpdate, type Defect, finishUpdate, noteApplied, refuseUpdate } from '../../links/link-life.ts';
import { markOfMarker } from '../../platforms/github/comment-marks.ts';
import { linkTo } from '../../platforms/github/plain-text.ts';
import { updateDefect } from '../../service/partner/operations/defects.ts';
import type { Context } from '../context.ts';
import { decideUpdate, leaveOrPark, looksAlike } from './issue-decisions.ts';
import { createIssueRefs, type IssueRef } from './issue-ref.ts';
import { issueJobs } from './jobs.ts';

/** Updates an issue's defect to match the issue. */
export function createFollowing(context: Context) {
  const { config, links, comments, clock } = context;
  const { readLink } = createIssueRefs(context);
  return { follow };

  /**
   * Updates the defect until it matches the newest state.
   * @returns undefined if the link no longer has a defect
   */
  async function follow(job: Job, place: IssueRef, steps: JobSteps): Promise<string | undefined> {
    const { entity, repository } = place;
    for (let updated = false; ; ) {
      const link = await readLink(place, steps);
      if (link.life !== 'made') return undefined;
      const { claim, defect, newest } = link;
      const begunAt = clock();
      const decision = decideUpdate(link, newest, { job, repository }, begunAt);
      if (decision.does !== 'send') return leaveOrPark(decision);
      const { all, fields } = decision;
      const applied = digestFields(all);
      if (Object.keys(fields).length > 0) {
        // An unconfirmed update may have changed any of its fields, so the next update does not wait.
        const foldMs = repository.settings.foldSeconds * 1_000;
        const foldedUntil = (defect.updatedAt ?? Number.NEGATIVE_INFINITY) + foldMs;
        if (!defect.updating && begunAt < foldedUntil) {
          throw new RetryAt(foldedUntil, 'changes of one issue are sent together', { releasesQueueGroup: true });
        }
        await update(job, entity, defect, fields, steps);
        const times = { begunAt, updatedAt: clock() };
        await links.change(entity, (link) => finishUpdate(link, runOf(job), applied, times));
        updated = true;
        continue;
      }
      if (!isDeepStrictEqual(defect.applied, applied)) {
        await links.change(entity, (link) => noteApplied(link, applied), link);
        continue;
      }
      if (claim.by === job.id) await comment(job, place, defect.id, claim.marker, steps);
      if (defect.doubtful?.fields.some((field) => field in all)) {
        const why = `defect ${defect.id} is up to date; its fields are sent once more, because an earlier update without a clear answer may still arrive`;
        throw new RetryAt(defect.doubtful.until, why, { releasesQueueGroup: true, waitsFor: 'late call' });
      }
      if (claim.by === job.id) return `created defect ${defect.id}`;
      return updated ? `updated defect ${defect.id}` : `nothing to do: ${looksAlike(defect)}`;
    }
  }

  /** Sends one update, unless another run has begun one. */
  async function update(job: Job, entity: string, { id, updates }: Defect, changed: object, steps: JobSteps) {
    const by = runOf(job);
    // The number makes the step unique, so that an earlier state can be applied again.
    const step = `update-defect ${updates + 1} ${digest(changed).slice(0, 8)}`;
    await steps.set(
      step,
      updateDefect,
      { defect_id: id, ...changed },
      {
        async begin() {
          const update = { by, fields: Object.keys(changed), until: mayArriveUntil(job, clock()) };
          const begun = await links.change(entity, (link) => beginUpdate(link, update, updates));
          return begun !== undefined;
        },
        async cancel() {
          await links.change(entity, (link) => refuseUpdate(link, by));
        },
      },
    );
  }

  async function comment(
    job: Job,
    place: IssueRef,
    defectId: string | number,
    marker: string,
    steps: JobSteps,
  ): Promise<void> {
    const calls = 'GitHub comment';
    // The old issue may already have the comment, and GitHub accepts no more comments there.
    if (place.entity !== issueJobs.inputOf(job).entity)
      return steps.skip('comment', calls, 'the issue was transferred');
    if (!place.repository.settings.comment) return steps.skip('comment', calls, 'relay.config.ts says not to comment');
    if (issueJobs.inputOf(job).comment === false)
      return steps.skip('comment', calls, 'the backfill was started without --comment');
    const replies = await comments.for(place.address);
    if (!replies) return steps.skip('comment', calls, 'there are no GitHub credentials in the secret');
    const page = pageOf(config, job.connection, { kind: 'defects', id: defectId });
    const what = page ? linkTo(page) : `defect \`${defectId}\``;
    await steps.reply('comment', {
      calls,
      find: (since) => replies.find(marker, since),
      make: (mayLeave) => replies.make(`Created ${what} from this issue.\n\n${markOfMarker(marker)}`, mayLeave),
    });
  }
}

/** Identifies one run of a job: if a worker stalls, two runs can overlap. */
const runOf = ({ id, lease }: Job) => lease?.owner ?? id;
