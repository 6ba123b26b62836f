import { RetryAt } from '../../engine/record/interruption.ts';
import type { Job } from '../../engine/record/job.ts';
import { LeaseLost } from '../../engine/record/job-store.ts';
import type { JobSteps } from '../../engine/run/job-steps.ts';
import { giveUp } from '../../links/link-life.ts';
import type { Context } from '../context.ts';
import type { OurAutomation } from '../our-automation.ts';
import { creationOf } from './claim-fate.ts';
import { isDefect } from './defect-text.ts';
import { createFollowing } from './follow-issue.ts';
import { createIssueRefs } from './issue-ref.ts';
import { createTransfers } from './issue-transfers.ts';
import { type IssueInput, issueJobs } from './jobs.ts';
import { createMaking } from './make-defect.ts';

/**
 * Keeps one defect in sync with one GitHub issue. A job is level-triggered: it does not apply its event, but updates
 * the defect to the newest state in the link. Late, repeated and out-of-order events therefore change nothing.
 */
export const run: OurAutomation = {
  name: issueJobs.name,
  of(context) {
    const runs = new WeakMap<Job, ReturnType<typeof createRun>>();
    /** Returns one object for a job, so that its run and its end share the same links. */
    function runOf(job: Job) {
      const run = runs.get(job) ?? createRun({ ...context, links: context.links.held() });
      runs.set(job, run);
      return run;
    }
    return {
      run: async (job, steps) => runOf(job).run(issueJobs.inputOf(job), job, steps),
      letGo: (job, ending, isHeld) => runOf(job).letGo(job, ending, isHeld),
    };
  },
};

function createRun(context: Context) {
  const { links, journal, clock } = context;
  const { locate } = createTransfers(context);
  const { issueRefOf } = createIssueRefs(context);
  const { makeDefect } = createMaking(context);
  const { follow } = createFollowing(context);
  return { run, letGo };

  async function run(input: IssueInput, job: Job, steps: JobSteps): Promise<string> {
    for (;;) {
      const place = issueRefOf(await locate(input.entity, job), input);
      const { entity, repository } = place;
      if (entity !== input.entity && repository.connection !== job.connection)
        return `nothing to do: the issue was transferred to ${repository.name}, on the connection ${repository.connection}`;
      const none = await makeDefect(job, place, steps);
      if (none !== undefined) return none;
      const outcome = await follow(job, place, steps);
      // Without an outcome, the defect has moved to another issue in the meantime.
      if (outcome !== undefined) return outcome;
    }
  }

  /**
   * Gives up a job's claim if the job ends because the issue wants no defect, or because an operator discarded it. A
   * parked job keeps its claim for its replay, unless a job of another event takes over the claim.
   */
  async function letGo(job: Job, ending: 'succeeded' | 'parked', isHeld: () => Promise<boolean>): Promise<void> {
    if (ending === 'parked' && !job.discarded) return;
    const input = issueJobs.inputOf(job);
    for (;;) {
      const at = await locate(input.entity, job);
      const { entity, link } = at;
      if (link.life !== 'claimed' || link.claim.by !== job.id || creationOf(await journal(job.id)) !== 'none') return;
      if (ending === 'succeeded' && link.newest && !link.newest.isGone) {
        const { repository } = issueRefOf(at, input);
        // Jobs of newer events have left the defect to this job.
        if (isDefect(link.newest.state.labels, repository.settings))
          throw new RetryAt(clock(), 'the issue changed in the meantime');
      }
      if (link.claim.inherited) return;
      // The lease is checked before the claim is given up: a worker that takes over the job after this check renews the
      // claim first.
      if (!(await isHeld())) throw new LeaseLost(job.id);
      if (await links.change(entity, (link) => giveUp(link, job.id), link)) return;
    }
  }
}
