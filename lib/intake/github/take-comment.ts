import type { About, Taken } from '../../automations/github-trigger.ts';
import type { Payload } from '../../platforms/github/payload.ts';

/** A line that may be a command. Reading it takes parsers that a cold start should not load. */
const MAY_BE_COMMAND = /^ {0,3}\//m;

/**
 * Handles `/done`, `/undo` and `/log` in comments on issues and pull requests. Unless the author is the owner, the worker
 * asks GitHub whether they may give commands.
 */
export async function takeComment(payload: Payload<'issue_comment'>, { repository, config }: About): Promise<Taken> {
  const { action, comment, changes } = payload;
  if (action !== 'created' && action !== 'edited') return { ignored: `a comment that is ${action} changes nothing` };
  if (!repository.completeChecklistItem && !repository.logTime) {
    return { ignored: `${repository.name} does not allow commands in comments in relay.config.ts` };
  }
  const texts = [comment.body, changes?.body?.from];
  if (!texts.some((body) => MAY_BE_COMMAND.test(body ?? ''))) {
    return { ignored: 'a comment without a command for this repository' };
  }
  const { takeCommands } = await import('./on-demand.ts');
  return takeCommands(payload, repository, config);
}
