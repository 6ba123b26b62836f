import type { RepositoryEvent, Taken } from './taken.ts';

/**
 * Completes the checklist items that a pull request names with `Completes checklist item <id>`, when it is merged into a
 * branch that counts, if its author is a collaborator. Unless it is the owner, the worker asks GitHub. A stacked pull
 * request is merged into another branch first, and its work is not in yet.
 */
export async function takeMergedPullRequest({ payload, repository }: RepositoryEvent<'pull_request'>): Promise<Taken> {
  const { action, pull_request: pull } = payload;
  if (action !== 'closed') return { ignored: `a pull request that is ${action} completes nothing` };
  if (!pull.merged) return { ignored: 'a pull request that is closed without a merge completes nothing' };
  const settings = repository.completeChecklistItem;
  if (!settings) return { ignored: `${repository.name} does not allow completing checklist items in relay.config.ts` };
  const { ref, repo } = pull.base;
  const { branches = [] } = typeof settings === 'object' ? settings : {};
  const counting = [repo.default_branch, ...branches];
  if (!counting.includes(ref)) {
    return { ignored: `a merge into ${ref} completes nothing; only a merge into ${counting.join(' or ')} does` };
  }
  // Reading the text takes a parser that a cold start should not load.
  if (!/checklist/i.test(pull.body ?? ''))
    return { ignored: 'the text of the pull request completes no checklist item' };
  const { takeCompletions } = await import('./in-texts.ts');
  return takeCompletions(payload, repository);
}
