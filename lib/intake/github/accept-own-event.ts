import { acceptOwn } from '../../automations/own/accept-own.ts';
import { ownDrafts } from '../../automations/own/draft.ts';
import type { RelayConfig, RepositoryConfig } from '../../config/schema.ts';
import { findRepository } from '../../config/settings.ts';
import type { AcceptedBy } from '../../engine/line/accept-event.ts';
import type { Cause, JobDraft } from '../../engine/record/job.ts';
import { isShownCollaborator, unprovenAuthor } from '../../platforms/github/association.ts';
import type { GithubDelivery } from '../../platforms/github/delivery.ts';
import type { Metrics } from '../../state/metrics/metrics.ts';
import type { Table } from '../../state/table/table.ts';
import { cutToLength } from '../../text.ts';
import type { GithubTrigger } from '../../triggers/github.ts';
import type { OwnAutomations, OwnOf } from '../../triggers/own-automation.ts';
import type { JobInput } from '../../triggers/trigger.ts';

const LONGEST_ERROR = 200;

export interface AcceptOwnOptions extends Pick<AcceptedBy, 'jobs' | 'queue'> {
  config: RelayConfig;
  own: OwnAutomations;
  table: Table;
  clock: () => number;
  log: Pick<Console, 'info' | 'error'>;
  metrics: Metrics;
}

/** What came of an event for the automations of a team, each for itself. */
interface OwnAccepted {
  accepted: { id: string; repeat: boolean }[];
  ignored: string[];
  /** The names of those that threw. */
  failed: string[];
}

/**
 * Makes the jobs of a team's automations. One that throws costs no other its job.
 * @param wanting the automations that take the event
 */
export async function acceptOwnEvent(
  wanting: readonly OwnOf<'github'>[],
  { event, deliveryId, payload }: GithubDelivery,
  cause: Cause,
  options: AcceptOwnOptions,
): Promise<OwnAccepted> {
  const { own, config, log, metrics } = options;
  const result: OwnAccepted = { accepted: [], ignored: [], failed: [] };
  const repository = findRepository(config, repositoryIn(payload));
  if (!repository) return result;
  const place = placeOf(payload, cause, repository);
  for (const automation of wanting) {
    const { name } = automation;
    try {
      const trigger = (await own.on(name)) as GithubTrigger<never, JobInput>;
      const of = { ...place, ...trustOf(automation, event, payload as Event, repository.name) };
      const drafts = ownDrafts(name, trigger, trigger.job(payload as never), of);
      if (typeof drafts === 'string') result.ignored.push(`${name}: ${drafts}`);
      else
        for (const draft of drafts) {
          const made = await acceptOwn(draft, options);
          if (typeof made === 'string') result.ignored.push(`${name}: ${made}`);
          else {
            const message = made.repeat ? 'repeat received' : 'job queued';
            log.info({ message, deliveryId, jobId: made.job.id, summary: made.job.summary });
            result.accepted.push({ id: made.job.id, repeat: made.repeat });
          }
        }
    } catch (error) {
      const why = cutToLength(String(error), LONGEST_ERROR, '…');
      log.error({ message: `automations/${name}.ts failed on an event`, deliveryId, event: cause.event, error: why });
      metrics.record({ OwnAutomationsFailed: 1 });
      result.failed.push(name);
    }
  }
  return result;
}

/** What is read of any event of a repository. */
interface Event {
  sender?: { login: string; type?: string };
  installation?: { id: number };
  issue?: Authored;
  pull_request?: Authored;
  discussion?: Authored;
  comment?: Authored;
  review?: Authored;
}

interface Authored {
  number?: number;
  user?: { login: string } | null;
  author_association?: string;
}

const repositoryIn = ({ repository }: GithubDelivery['payload']): string =>
  String((repository as { full_name?: unknown } | undefined)?.full_name ?? '');

function placeOf(payload: GithubDelivery['payload'], cause: Cause, { name, connection }: RepositoryConfig) {
  const { issue, pull_request, discussion } = payload as Event;
  const number = (issue ?? pull_request ?? discussion)?.number;
  const entity = number === undefined ? name : `${name}#${number}`;
  return { connection, entity, summary: `${cause.event} of ${entity}`, cause };
}

/**
 * Events that only people with write access cause, or GitHub itself. The others come from anyone who can see the
 * repository. https://docs.github.com/en/webhooks/webhook-events-and-payloads
 */
const OF_WRITERS = new Set([
  'branch_protection_rule',
  'create',
  'delete',
  'deploy_key',
  'deployment',
  'deployment_status',
  'label',
  'member',
  'merge_group',
  'milestone',
  'page_build',
  'public',
  'push',
  'registry_package',
  'release',
  'repository',
  'repository_dispatch',
  'workflow_dispatch',
]);

/** What the worker asks GitHub about the sender, and what counts against the share of strangers. */
function trustOf(
  { by }: OwnOf<'github'>,
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
