import * as z from 'zod/mini';
import { completedItems } from '../commands/comment-lines.ts';
import { findRepository } from '../config/find-repository.ts';
import type { RelayConfig } from '../config/schema.ts';
import type { GithubDelivery } from '../github/delivery.ts';
import { installation, readPayload, repository } from '../github/payload.ts';
import { jobId } from '../jobs/job.ts';
import { cutToLength } from '../text.ts';
import type { Taken } from './automation.ts';
import { type ChecklistItems, COMPLETE_CHECKLIST_ITEM } from './complete-checklist-item.ts';
import { issuePlace } from './issue-place.ts';

/** https://docs.github.com/en/webhooks/webhook-events-and-payloads#pull_request */
const pullRequestPayload = z.object({
  action: z.string(),
  pull_request: z.object({ id: z.int(), number: z.int(), body: z.nullish(z.string()), merged: z.nullish(z.boolean()) }),
  repository,
  installation: z.nullish(installation),
});

/** Each is a call of the service. */
const MAX_ITEMS = 50;

/** A merged pull request whose body says `Completes checklist item <id>` completes it. */
export function takeMergedPullRequest({ event, payload }: GithubDelivery, config: RelayConfig): Taken | undefined {
  if (event !== 'pull_request') return undefined;
  if (payload.action !== 'closed') return { ignored: `a pull request that is ${payload.action} completes nothing` };
  const { pull_request: pull, repository, installation } = readPayload(event, pullRequestPayload, payload);
  if (!pull.merged) return { ignored: 'a pull request that is closed without a merge completes nothing' };
  const settings = findRepository(config, repository.full_name);
  if (!settings?.completeChecklistItem) {
    return { ignored: `${repository.full_name} completes no checklist items in relay.config.ts` };
  }
  const named = completedItems(pull.body ?? '');
  const items = named.slice(0, MAX_ITEMS);
  if (items.length === 0) return { ignored: 'a pull request whose text completes no checklist item' };
  const input: ChecklistItems = { items, completed: true, leftOut: named.length - items.length };
  const place = issuePlace(settings, repository.full_name, pull.number, installation);
  const job = {
    ...place,
    id: jobId(COMPLETE_CHECKLIST_ITEM, 'pull request', pull.id),
    automation: COMPLETE_CHECKLIST_ITEM,
    summary: `${place.entity} merged: completes ${cutToLength(items.join(', '), 200, '…')}`,
    input: { ...input },
  };
  return { jobs: [job] };
}
