import { checkJobs, EXTERNAL_IDS } from '../../automations/check-pull-request/draft.ts';
import type { RelayConfig } from '../../config/schema.ts';
import { findRepository } from '../../config/settings.ts';
import { digest } from '../../digest.ts';
import { checkedPullPayload, checkRunPayload, mergeGroupPayload } from '../../platforms/github/checks/payloads.ts';
import type { GithubDelivery } from '../../platforms/github/delivery.ts';
import { readPayload } from '../../platforms/github/payload.ts';
import type { Taken } from './taken.ts';

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

/** The commits that are checked, and what tells two events about them apart. */
interface WantedCheck {
  commits: readonly string[];
  how?: { rerunBy: string } | { isInMergeQueue: true };
  happened: (string | number)[];
  happenedAt?: number;
  repository: { full_name: string };
  installation?: { id: number } | null | undefined;
}

/** Handles what calls for the check of a commit: a change of a pull request with it, "Re-run", and a merge queue. */
export function takeCheck(delivery: GithubDelivery, config: RelayConfig): Taken | undefined {
  const wanted = wantedBy(delivery);
  if (!wanted || 'ignored' in wanted) return wanted;
  const { commits, how, happened, happenedAt, repository, installation } = wanted;
  const { full_name } = repository;
  const settings = findRepository(config, full_name);
  if (!settings?.checkPullRequest) {
    const ignored = `${full_name} is not configured for ${checkJobs.name} in relay.config.ts`;
    return delivery.event === 'pull_request' ? undefined : { ignored };
  }
  const jobs = commits.map((headSha) =>
    checkJobs.draft({
      happened: [...happened, headSha],
      connection: settings.connection,
      lane: 'background',
      entity: `${full_name}@${headSha}`,
      startsAtOnce: true,
      summary: `${full_name}@${headSha.slice(0, 7)}: check after ${delivery.event}.${String(delivery.payload.action)}`,
      input: { repository: settings.name, headSha, ...how, installationId: installation?.id },
    }),
  );
  return { happenedAt, jobs };
}

function wantedBy({ event, payload }: GithubDelivery): WantedCheck | { ignored: string } | undefined {
  const action = String(payload.action);
  switch (event) {
    case 'pull_request': {
      if (!CHANGES.has(action)) return undefined;
      const { pull_request: pull, before, ...place } = readPayload(event, checkedPullPayload, payload);
      // Two changes within one second have the same updated_at.
      const state = digest([pull.head.sha, pull.base.ref, pull.body ?? '', ...pull.labels.map(({ name }) => name)]);
      return {
        ...place,
        commits: [pull.head.sha, ...(before ? [before] : [])],
        happened: [pull.id, action, pull.updated_at, state],
        happenedAt: Date.parse(pull.updated_at),
      };
    }
    case 'check_run': {
      if (action !== 'rerequested') return { ignored: `a check run that is ${action} changes nothing` };
      const { check_run: run, sender, ...place } = readPayload(event, checkRunPayload, payload);
      if (run.external_id !== EXTERNAL_IDS.pullRequests) {
        return { ignored: 'the check run is not of a pull request that the relay checks' };
      }
      return {
        ...place,
        commits: [run.head_sha],
        how: { rerunBy: sender.login },
        happened: ['rerun', run.id, run.completed_at ?? '', run.check_suite?.updated_at ?? ''],
      };
    }
    case 'merge_group': {
      if (action !== 'checks_requested') return { ignored: `a merge group that is ${action} needs no check` };
      const { merge_group, ...place } = readPayload(event, mergeGroupPayload, payload);
      return { ...place, commits: [merge_group.head_sha], how: { isInMergeQueue: true }, happened: ['merge group'] };
    }
    default:
      return undefined;
  }
}
