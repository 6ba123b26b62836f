import {
  type AcceptCustomOptions,
  acceptCustomJobs,
  type CustomAccepted,
} from '../../automations/custom/accept-custom.ts';
import { ofTeam } from '../../automations/custom/thrown.ts';
import type { RelayConfig, RepositoryConfig } from '../../config/schema.ts';
import { findRepository } from '../../config/settings.ts';
import type { Cause, JobDraft } from '../../engine/record/job.ts';
import { isShownCollaborator, unprovenAuthor } from '../../platforms/github/association.ts';
import { endsWithCommentMark } from '../../platforms/github/comment-marks.ts';
import type { GithubDelivery } from '../../platforms/github/delivery.ts';
import type { CustomOf } from '../../triggers/custom-automation.ts';
import type { GithubEvent, GithubPayload, GithubTrigger } from '../../triggers/github.ts';
import type { JobInput } from '../../triggers/trigger.ts';

/**
 * Accepts the jobs of custom automations, one automation after the other.
 * @param wanting the automations that accept the event
 */
export async function acceptCustomEvent(
  wanting: readonly CustomOf<'github'>[],
  { event, payload }: GithubDelivery,
  cause: NamedCause,
  { config, ...options }: AcceptCustomOptions & { config: RelayConfig },
) {
  const result = { jobs: [] as CustomAccepted['jobs'], ignored: [] as string[], failed: [] as string[] };
  const repository = findRepository(config, repositoryIn(payload));
  if (!repository) return result;
  const { comment, sender } = payload as Event;
  // With a token, the author is a person with more rights, and an automation that writes comments would trigger itself
  // again and again.
  const isByAuthor = sender !== undefined && sender.login === comment?.user?.login;
  if (event === 'issue_comment' && isByAuthor && endsWithCommentMark(comment.body))
    return { ...result, ignored: ['a comment of the relay starts no automation'] };
  const place = placeOf(payload, cause, repository);
  for (const automation of wanting) {
    const { name } = automation;
    const trust = trustOf(automation, event, payload as Event, repository.name);
    if (trust.asked?.unproven && trust.asked.unproven.login === undefined) {
      result.ignored.push(`${name}: no person caused it, and only by: 'anyone' takes such events`);
      continue;
    }
    // A file may change the payload, such as the order of a list, so each automation gets its own copy.
    const given = automation === wanting.at(-1) ? payload : structuredClone(payload);
    const { jobs, ignored, hasFailed } = await acceptCustomJobs(name, { ...place, ...trust }, options, (trigger) =>
      ofTeam(() => (trigger as GithubTrigger<GithubEvent, JobInput>).job(given as GithubPayload<GithubEvent>)),
    );
    result.jobs.push(...jobs);
    result.ignored.push(...ignored.map((why) => `${name}: ${why}`));
    if (hasFailed) result.failed.push(name);
  }
  return result;
}

/** A cause with the name of its event, such as `release.published`. */
export type NamedCause = Cause & { event: string };

/** The fields that are read from any event of a repository. */
interface Event {
  sender?: { login: string; type?: string };
  installation?: { id: number };
  issue?: Authored;
  pull_request?: Authored;
  discussion?: Authored;
  comment?: Authored & { body?: string | null };
  review?: Authored;
}

interface Authored {
  number?: number;
  user?: { login: string } | null;
  author_association?: string;
}

const repositoryIn = ({ repository }: GithubDelivery['payload']): string =>
  String((repository as { full_name?: unknown } | undefined)?.full_name ?? '');

function placeOf(payload: GithubDelivery['payload'], cause: NamedCause, { name, connection }: RepositoryConfig) {
  const { issue, pull_request, discussion } = payload as Event;
  const number = (issue ?? pull_request ?? discussion)?.number;
  const entity = number === undefined ? name : `${name}#${number}`;
  return { connection, entity, summary: `${cause.event.replaceAll(/[._]/g, ' ')} in ${entity}`, cause };
}

/**
 * Events that only people with write access, or GitHub itself, can cause. Anyone who can see the repository can cause
 * the others, even deployments: apps deploy the pull requests of forks.
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads
 */
const OF_WRITERS = new Set(
  (
    'branch_protection_rule create delete deploy_key label member merge_group milestone page_build public ' +
    'push registry_package release repository repository_dispatch workflow_dispatch'
  ).split(' '),
);

/**
 * Returns what the worker has to ask GitHub about the sender, and whether the event counts against the share of
 * strangers.
 */
function trustOf(
  { by }: CustomOf<'github'>,
  event: string,
  payload: Event,
  repository: string,
): Pick<JobDraft, 'asked' | 'stranger'> {
  if (OF_WRITERS.has(event)) return {};
  const { sender } = payload;
  const written = payload.comment ?? payload.review ?? payload.issue ?? payload.pull_request ?? payload.discussion;
  const association = written?.user?.login === sender?.login ? written?.author_association : undefined;
  if (by === 'anyone') return isShownCollaborator(sender, association) || !sender ? {} : { stranger: sender.login };
  const unproven = unprovenAuthor(sender, association);
  const { id: installationId } = payload.installation ?? {};
  const place = { repository, ...(installationId !== undefined && { installationId }) };
  return unproven ? { asked: { unproven: { ...unproven, in: place } } } : {};
}
