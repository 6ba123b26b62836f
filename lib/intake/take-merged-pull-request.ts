import * as z from 'zod/mini';
import { checklistItemJobs, enumerated } from '../automations/complete-checklist-item.ts';
import { MOST_ITEMS } from '../commands/checklist-items.ts';
import { completedItems } from '../commands/comment-lines.ts';
import { findRepository } from '../config/find-repository.ts';
import type { RelayConfig } from '../config/schema.ts';
import { isBot, isShownCollaborator } from '../github/association.ts';
import type { GithubDelivery } from '../github/delivery.ts';
import { installation, instant, login, readPayload, repository } from '../github/payload.ts';
import type { Unproven } from '../jobs/job.ts';
import { cutToLength } from '../text.ts';
import { issuePlace } from './issue-place.ts';
import type { Taken } from './taken.ts';

const account = z.nullish(z.object({ login, type: z.nullish(z.string()) }));

/** https://docs.github.com/en/webhooks/webhook-events-and-payloads#pull_request */
const pullRequestPayload = z.object({
  action: z.string(),
  pull_request: z.object({
    id: z.int(),
    number: z.int(),
    body: z.nullish(z.string()),
    merged: z.nullish(z.boolean()),
    merged_at: z.nullish(instant),
    merged_by: account,
    user: account,
    author_association: z.nullish(z.string()),
  }),
  repository,
  installation: z.nullish(installation),
});

type PullRequest = z.output<typeof pullRequestPayload>['pull_request'];

/** Each item is a call to the service. */
const MAX_ITEMS = 50;

/**
 * Completes the checklist items that a merged pull request names with `Completes checklist item <id>`, if its author is
 * a collaborator. If the payload does not show that, the worker asks GitHub.
 */
export function takeMergedPullRequest({ event, payload }: GithubDelivery, config: RelayConfig): Taken | undefined {
  if (event !== 'pull_request') return undefined;
  if (payload.action !== 'closed') return { ignored: `a pull request that is ${payload.action} completes nothing` };
  const { pull_request: pull, repository, installation } = readPayload(event, pullRequestPayload, payload);
  if (!pull.merged) return { ignored: 'a pull request that is closed without a merge completes nothing' };
  const settings = findRepository(config, repository.full_name);
  if (!settings?.completeChecklistItem) {
    return { ignored: `${repository.full_name} does not allow completing checklist items in relay.config.ts` };
  }
  const named = completedItems(pull.body ?? '');
  const items = named.slice(0, MAX_ITEMS);
  if (items.length === 0) return { ignored: 'a pull request whose text completes no checklist item' };
  const isShown = isShownCollaborator(pull.user, pull.author_association);
  const place = issuePlace(settings, repository.full_name, pull.number, installation);
  const job = checklistItemJobs.draft({
    ...place,
    happened: ['pull request', pull.id],
    summary: `${place.entity} merged: completes ${cutToLength(items.join(', '), 200, '…')}`,
    input: { items, completed: true, leftOut: named.length - items.length },
    ...(!isShown && { asked: { unproven: unprovenAuthor(pull, items) } }),
  });
  return { happenedAt: pull.merged_at ? Date.parse(pull.merged_at) : undefined, jobs: [job] };
}

/** A bot may have any permission, and its text may come from others. The person who merges can confirm it. */
function unprovenAuthor({ user, merged_by }: PullRequest, items: readonly string[]): Unproven {
  const commands: string[] = [];
  for (let from = 0; from < items.length; from += MOST_ITEMS) {
    commands.push(`/done ${items.slice(from, from + MOST_ITEMS).join(' ')}`);
  }
  const author = user ? `@${user.login}` : 'a deleted account';
  const says = `This says that it completes checklist item${items.length > 1 ? 's' : ''} ${enumerated(items)}`;
  const ask = `${merged_by ? `@${merged_by.login}: if` : 'If'} that is right, comment ${enumerated(commands)}`;
  return {
    ...(user && !isBot(user) && { login: user.login }),
    otherwise: `${says}, but its author ${author} is not a collaborator here, so nothing was done. ${ask}`,
  };
}
