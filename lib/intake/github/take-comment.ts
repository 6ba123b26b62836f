import type { RelayConfig } from '../../config/schema.ts';
import { findRepository } from '../../config/settings.ts';
import type { GithubDelivery } from '../../platforms/github/delivery.ts';
import { commentPayload, readPayload } from '../../platforms/github/payload.ts';
import type { Taken } from './taken.ts';

/** A line that may be a command. Reading it takes parsers that a cold start should not load. */
const MAY_BE_COMMAND = /^ {0,3}\//m;

/**
 * Handles `/done`, `/undo` and `/log` in comments on issues and pull requests. Unless the author is the owner, the worker
 * asks GitHub whether they may give commands.
 */
export async function takeComment({ event, payload }: GithubDelivery, config: RelayConfig): Promise<Taken | undefined> {
  if (event !== 'issue_comment') return undefined;
  const action = String(payload.action);
  if (action !== 'created' && action !== 'edited') return { ignored: `a comment that is ${action} changes nothing` };
  const read = readPayload(event, commentPayload, payload);
  const settings = findRepository(config, read.repository.full_name);
  if (!settings?.completeChecklistItem && !settings?.logTime) {
    return { ignored: `${read.repository.full_name} does not allow commands in comments in relay.config.ts` };
  }
  const texts = [read.comment.body, read.changes?.body?.from];
  if (!texts.some((body) => MAY_BE_COMMAND.test(body ?? ''))) {
    return { ignored: 'a comment without a command for this repository' };
  }
  const { takeCommands } = await import('./in-texts.ts');
  return takeCommands(read, settings, config);
}
