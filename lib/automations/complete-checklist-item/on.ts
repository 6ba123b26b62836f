import { onGithub } from '../github-trigger.ts';
import { checklistItemJobs } from './jobs.ts';

/**
 * When a pull request is merged, completes the checklist items that it names with `Completes checklist item <id>`. It
 * must be merged into the default branch or a configured one: a stacked pull request is merged into another branch
 * first, so its work has not arrived yet. Its author must be a collaborator; the worker asks GitHub, unless the author
 * is the owner.
 */
export const on = onGithub('pull_request', checklistItemJobs, async (payload, { repository, inTexts }) => {
  const { action, pull_request: pull } = payload;
  if (action !== 'closed') return `a pull request that is ${action} completes nothing`;
  if (!pull.merged) return 'a pull request that is closed without a merge completes nothing';
  const settings = repository.completeChecklistItem;
  if (!settings) return `${repository.name} does not allow completing checklist items in relay.config.ts`;
  const { ref, repo } = pull.base;
  const { branches = [] } = typeof settings === 'object' ? settings : {};
  const counting = [repo.default_branch, ...branches];
  if (!counting.includes(ref)) {
    return `a merge into ${ref} completes nothing; only a merge into ${counting.join(' or ')} does`;
  }
  // The parser is loaded on demand, because it would slow down a cold start.
  if (!/checklist/i.test(pull.body ?? '')) return 'the text of the pull request names no checklist item to complete';
  return (await inTexts()).mergedItems(payload, repository);
});
