import { checkJobs, pullNumberIn } from '../../automations/check-pull-request/draft.ts';
import { findRepository } from '../../config/find-repository.ts';
import type { RelayConfig } from '../../config/schema.ts';
import { digest } from '../../digest.ts';
import { checkedPullPayload, checkRunPayload, mergeGroupPayload } from '../../platforms/github/checks/payloads.ts';
import type { GithubDelivery } from '../../platforms/github/delivery.ts';
import { readPayload } from '../../platforms/github/payload.ts';
import type { Taken } from './taken.ts';

const CHANGES = new Set(['opened', 'edited', 'synchronize', 'reopened', 'ready_for_review', 'labeled', 'unlabeled']);

/** What is checked, and what tells two events about it apart. */
interface WantedCheck {
  of: { pullNumber: number; rerunBy?: string } | { headSha: string };
  happened: (string | number)[];
  happenedAt?: number;
  repository: { full_name: string };
  installation?: { id: number } | null | undefined;
}

/** Handles what calls for the check of a pull request: a change of it, "Re-run", and a merge queue. */
export function takeCheck(delivery: GithubDelivery, config: RelayConfig): Taken | undefined {
  const wanted = wantedBy(delivery);
  if (!wanted || 'ignored' in wanted) return wanted;
  const { of, happened, happenedAt, repository, installation } = wanted;
  const { full_name } = repository;
  const settings = findRepository(config, full_name);
  if (!settings?.checkPullRequest) {
    const ignored = `${full_name} is not configured for ${checkJobs.name} in relay.config.ts`;
    return delivery.event === 'pull_request' ? undefined : { ignored };
  }
  const entity = 'headSha' in of ? `${full_name}@${of.headSha}` : `${full_name}#${of.pullNumber}`;
  const job = checkJobs.draft({
    happened,
    connection: settings.connection,
    lane: 'background',
    entity,
    // A command on the pull request that waits must not hold its check up.
    group: `${entity} check`,
    startsAtOnce: true,
    summary: `${entity}: check after ${delivery.event}.${String(delivery.payload.action)}`,
    input: { repository: settings.name, of, ...(installation && { installationId: installation.id }) },
  });
  return { happenedAt, jobs: [job] };
}

function wantedBy({ event, payload }: GithubDelivery): WantedCheck | { ignored: string } | undefined {
  const action = String(payload.action);
  switch (event) {
    case 'pull_request': {
      if (!CHANGES.has(action)) return undefined;
      const { pull_request: pull, ...place } = readPayload(event, checkedPullPayload, payload);
      if (pull.state !== 'open') return undefined;
      // Two changes within one second have the same updated_at.
      const state = digest([pull.head.sha, pull.body ?? '', ...pull.labels.map(({ name }) => name)]);
      return {
        ...place,
        of: { pullNumber: pull.number },
        happened: [pull.id, action, pull.updated_at, state],
        happenedAt: Date.parse(pull.updated_at),
      };
    }
    case 'check_run': {
      if (action !== 'rerequested') return { ignored: `a check run that is ${action} changes nothing` };
      const { check_run: run, sender, ...place } = readPayload(event, checkRunPayload, payload);
      const pullNumber = pullNumberIn(run.external_id);
      if (pullNumber === undefined) return { ignored: 'the check run is not of a pull request that the relay checks' };
      return {
        ...place,
        of: { pullNumber, rerunBy: sender.login },
        happened: ['rerun', run.id, run.completed_at ?? '', run.check_suite?.updated_at ?? ''],
      };
    }
    case 'merge_group': {
      if (action !== 'checks_requested') return { ignored: `a merge group that is ${action} needs no check` };
      const { merge_group, ...place } = readPayload(event, mergeGroupPayload, payload);
      const { head_sha: headSha } = merge_group;
      return { ...place, of: { headSha }, happened: ['merge group', headSha] };
    }
    default:
      return undefined;
  }
}
