import { digest } from '../../digest.ts';
import type { Payload } from '../../platforms/github/payload.ts';
import { type About, type OurDrafts, onGithub } from '../github-trigger.ts';
import { type CheckInput, checkJobs, EXTERNAL_IDS } from './jobs.ts';

/**
 * The actions after which a commit is checked. After `closed`, or a new base or head, the commit may still belong to
 * other pull requests.
 */
const CHANGES = new Set('opened edited synchronize reopened closed ready_for_review labeled unlabeled'.split(' '));

/** Checks the commit that is now the head of the pull request, and the commit that was its head before. */
const onPullRequest = onGithub('pull_request', checkJobs, (payload, about) => {
  const { action, pull_request: pull, before } = payload;
  if (!CHANGES.has(action) || !about.repository.checkPullRequest) return undefined;
  // Two changes within one second have the same updated_at.
  const state = digest([pull.head.sha, pull.base.ref, pull.body ?? '', ...pull.labels.map(({ name }) => name)]);
  const happened = [pull.id, action, pull.updated_at, state];
  const after = { event: `pull_request.${action}`, happened, at: pull.updated_at };
  return check(payload, about, [pull.head.sha, ...(before ? [before] : [])], after);
});

/** Someone pressed **Re-run**. */
const onRerun = onGithub('check_run', checkJobs, (payload, about) => {
  const { action, check_run: run, sender } = payload;
  if (action !== 'rerequested') return `a check run that is ${action} changes nothing`;
  if (run.external_id !== EXTERNAL_IDS.pullRequests) {
    return 'the check run is not of a pull request that Partner Relay checks';
  }
  const happened = ['rerun', run.id, run.completed_at ?? '', run.check_suite?.updated_at ?? ''];
  return check(payload, about, [run.head_sha], { event: `check_run.${action}`, happened }, { rerunBy: sender.login });
});

const onMergeGroup = onGithub('merge_group', checkJobs, (payload, about) => {
  const { action, merge_group: group } = payload;
  if (action !== 'checks_requested') return `a merge group that is ${action} needs no check`;
  const after = { event: `merge_group.${action}`, happened: ['merge group'] };
  return check(payload, about, [group.head_sha], after, { isInMergeQueue: true });
});

export const on = [onPullRequest, onRerun, onMergeGroup];

/** @param after the event that requires the checks; `happened` identifies it */
function check(
  { repository, installation }: Pick<Payload<'merge_group'>, 'repository' | 'installation'>,
  { repository: settings }: About,
  commits: readonly string[],
  { event, happened, at }: { event: string; happened: readonly (string | number)[]; at?: string },
  how?: { rerunBy: string } | { isInMergeQueue: true },
): OurDrafts<CheckInput> {
  const { full_name } = repository;
  if (!settings.checkPullRequest) return `${full_name} is not configured for ${checkJobs.name} in relay.config.ts`;
  return commits.map((headSha) => ({
    happened: [...happened, headSha],
    at,
    entity: `${full_name}@${headSha}`,
    startsAtOnce: true,
    summary: `${full_name}@${headSha.slice(0, 7)}: check after ${event}`,
    input: { repository: settings.name, headSha, ...how, installationId: installation?.id },
  }));
}
