import { onGithub } from '../github-trigger.ts';
import { checklistItemJobs } from './jobs.ts';

/**
 * Completes the checklist items that a pull request names with `Completes checklist item <id>`, when it is merged into a
 * branch that counts, if its author is a collaborator. Unless it is the owner, the worker asks GitHub. A stacked pull
 * request is merged into another branch first, and its work is not in yet.
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
  // Reading the text takes a parser that a cold start should not load.
  if (!/checklist/i.test(pull.body ?? '')) return 'the text of the pull request names no checklist item to complete';
  return (await inTexts()).mergedItems(payload, repository);
});
