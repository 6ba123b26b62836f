import { checkJobs, EXTERNAL_IDS } from '../../automations/check-pull-request/draft.ts';
import { digest } from '../../digest.ts';
import type { TakenEvent } from '../../platforms/github/delivery.ts';
import type { RepositoryEvent, Taken } from './taken.ts';

/** A pull request that is closed, or gets another base or head, leaves the commit to the others that have it. */
const CHANGES = new Set([
  'opened',
  'edited',
  'synchronize',
  'reopened',
  'closed',
  'ready_for_review',
  'labeled',
  'unlabeled',
]);

/** What tells two events apart that call for a check of the same commit. */
interface Occasion {
  event: TakenEvent;
  happened: readonly (string | number)[];
  happenedAt?: number;
  how?: { rerunBy: string } | { isInMergeQueue: true };
}

/** A change of a pull request calls for the check of the commits that are its head, or were. */
export function takePullRequestCheck(event: RepositoryEvent<'pull_request'>): Taken | undefined {
  const { action, pull_request: pull, before } = event.payload;
  if (!CHANGES.has(action) || !event.repository.checkPullRequest) return undefined;
  // Two changes within one second have the same updated_at.
  const state = digest([pull.head.sha, pull.base.ref, pull.body ?? '', ...pull.labels.map(({ name }) => name)]);
  return check(event, [pull.head.sha, ...(before ? [before] : [])], {
    event: 'pull_request',
    happened: [pull.id, action, pull.updated_at, state],
    happenedAt: Date.parse(pull.updated_at),
  });
}

/** "Re-run" */
export function takeRerun(event: RepositoryEvent<'check_run'>): Taken {
  const { action, check_run: run, sender } = event.payload;
  if (action !== 'rerequested') return { ignored: `a check run that is ${action} changes nothing` };
  if (run.external_id !== EXTERNAL_IDS.pullRequests) {
    return { ignored: 'the check run is not of a pull request that the relay checks' };
  }
  const happened = ['rerun', run.id, run.completed_at ?? '', run.check_suite?.updated_at ?? ''];
  return check(event, [run.head_sha], { event: 'check_run', happened, how: { rerunBy: sender.login } });
}

export function takeMergeGroup(event: RepositoryEvent<'merge_group'>): Taken {
  const { action, merge_group: group } = event.payload;
  if (action !== 'checks_requested') return { ignored: `a merge group that is ${action} needs no check` };
  const how = { isInMergeQueue: true } as const;
  return check(event, [group.head_sha], { event: 'merge_group', happened: ['merge group'], how });
}

function check(
  { payload, repository: settings }: RepositoryEvent<'pull_request' | 'check_run' | 'merge_group'>,
  commits: readonly string[],
  { event, happened, happenedAt, how }: Occasion,
): Taken {
  const { full_name } = payload.repository;
  if (!settings.checkPullRequest) {
    return { ignored: `${full_name} is not configured for ${checkJobs.name} in relay.config.ts` };
  }
  const jobs = commits.map((headSha) =>
    checkJobs.draft({
      happened: [...happened, headSha],
      connection: settings.connection,
      lane: 'background',
      entity: `${full_name}@${headSha}`,
      startsAtOnce: true,
      summary: `${full_name}@${headSha.slice(0, 7)}: check after ${event}.${payload.action}`,
      input: { repository: settings.name, headSha, ...how, installationId: payload.installation?.id },
    }),
  );
  return { happenedAt, jobs };
}
