import { chunks } from '../../chunks.ts';
import { MOST_ITEMS } from '../../commands/checklist-items.ts';
import { completedItems } from '../../commands/comment-lines.ts';
import type { RepositoryConfig } from '../../config/schema.ts';
import { unprovenAuthor } from '../../platforms/github/association.ts';
import type { Payload } from '../../platforms/github/payload.ts';
import { cutToLength, enumerated } from '../../text.ts';
import { issuePlace, type OurDrafts } from '../github-trigger.ts';
import type { ItemsInput } from './jobs.ts';

/** Each item is one call to the service. */
const MAX_ITEMS = 50;

/** Drafts the job for the checklist items that a merged pull request names. */
export function mergedItems(
  { pull_request: pull, repository, installation }: Payload<'pull_request'>,
  settings: RepositoryConfig,
): OurDrafts<ItemsInput> {
  const named = completedItems(pull.body ?? '');
  const items = named.slice(0, MAX_ITEMS);
  if (items.length === 0) return 'the text of the pull request names no checklist item to complete';
  const unproven = unprovenAuthor(pull.user, pull.author_association);
  const mergedAt = pull.merged_at ? Date.parse(pull.merged_at) : undefined;
  const place = issuePlace(settings, repository.full_name, pull.number, installation);
  return {
    ...place,
    happened: ['pull request', pull.id],
    at: pull.merged_at,
    summary: `${place.entity} merged: completes ${cutToLength(items.join(', '), 200, '…')}`,
    input: { items, completed: true, leftOut: named.length - items.length },
    asked: {
      at: mergedAt,
      ...(unproven && { unproven: { ...unproven, otherwise: askToConfirm(pull, items) } }),
    },
  };
}

/** Asks the person who merged to confirm. A bot may have any permission, and its text may come from other people. */
function askToConfirm({ user, merged_by }: Payload<'pull_request'>['pull_request'], items: readonly string[]): string {
  const commands = chunks(items, MOST_ITEMS).map((some) => `/done ${some.join(' ')}`);
  const author = user ? `@${user.login}` : 'a deleted account';
  const says = `This says that it completes checklist item${items.length > 1 ? 's' : ''} ${enumerated(items)}`;
  const ask = `${merged_by ? `@${merged_by.login}: if` : 'If'} that is right, comment ${enumerated(commands)}`;
  return `${says}, but its author ${author} is not a collaborator here, so nothing was done. ${ask}`;
}
