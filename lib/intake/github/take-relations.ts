import * as z from 'zod/mini';
import type { RelayConfig } from '../../config/schema.ts';
import { findRepository } from '../../config/settings.ts';
import type { GithubDelivery } from '../../platforms/github/delivery.ts';
import { repository } from '../../platforms/github/payload.ts';

/** JSON that may have such a line. Reading it takes a parser that a cold start should not load. */
const MAY_RELATE = /(?:task|case|step)[\W_]{0,9}:/i;

/**
 * Links the defect of an issue to what the lines `Task: …`, `Test case: …` and `Test step: …` of the issue name, or of a
 * pull request that closes it.
 */
export async function takeRelations({ event, payload }: GithubDelivery, config: RelayConfig) {
  // The texts of other events, such as the message of a commit, link nothing.
  if (event !== 'issues' && event !== 'pull_request') return undefined;
  const { data } = z.object({ repository }).safeParse(payload);
  const settings = data && findRepository(config, data.repository.full_name);
  if (!settings?.relate || !MAY_RELATE.test(JSON.stringify(payload))) return undefined;
  const take = await import('./in-texts.ts');
  return event === 'issues' ? take.takeIssueRelations(payload, config) : take.takeMergedRelations(payload, config);
}
