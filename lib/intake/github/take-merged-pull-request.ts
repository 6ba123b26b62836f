import type { RelayConfig } from '../../config/schema.ts';
import { findRepository } from '../../config/settings.ts';
import type { GithubDelivery } from '../../platforms/github/delivery.ts';
import { pullRequestPayload, readPayload } from '../../platforms/github/payload.ts';
import type { Taken } from './taken.ts';

/**
 * Completes the checklist items that a pull request names with `Completes checklist item <id>`, when it is merged into a
 * branch that counts, if its author is a collaborator. Unless it is the owner, the worker asks GitHub. A stacked pull
 * request is merged into another branch first, and its work is not in yet.
 */
export async function takeMergedPullRequest(
  { event, payload }: GithubDelivery,
  config: RelayConfig,
): Promise<Taken | undefined> {
  if (event !== 'pull_request') return undefined;
  if (payload.action !== 'closed') return { ignored: `a pull request that is ${payload.action} completes nothing` };
  const read = readPayload(event, pullRequestPayload, payload);
  const { pull_request: pull, repository } = read;
  if (!pull.merged) return { ignored: 'a pull request that is closed without a merge completes nothing' };
  const settings = findRepository(config, repository.full_name);
  if (!settings?.completeChecklistItem) {
    return { ignored: `${repository.full_name} does not allow completing checklist items in relay.config.ts` };
  }
  const { ref, repo } = pull.base;
  const { branches = [] } = typeof settings.completeChecklistItem === 'object' ? settings.completeChecklistItem : {};
  const counting = [repo.default_branch, ...branches];
  if (!counting.includes(ref)) {
    return { ignored: `a merge into ${ref} completes nothing; only a merge into ${counting.join(' or ')} does` };
  }
  // Reading the text takes a parser that a cold start should not load.
  if (!/checklist/i.test(pull.body ?? ''))
    return { ignored: 'the text of the pull request completes no checklist item' };
  const { takeCompletions } = await import('./in-texts.ts');
  return takeCompletions(read, settings);
}
