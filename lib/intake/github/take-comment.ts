import type { About } from '../../automations/github-trigger.ts';
import type { Taken } from '../../engine/line/accept-taken.ts';
import { endsWithCommentMark } from '../../platforms/github/comment-marks.ts';
import type { Payload } from '../../platforms/github/payload.ts';
import { type CustomAutomations, customOf } from '../../triggers/custom-automation.ts';

/** Matches a line that may be a command. The parsers that read it would slow down a cold start. */
const MAY_BE_COMMAND = /^ {0,3}\//m;

/**
 * Handles `/done`, `/undo`, `/log` and custom commands in comments on issues and pull requests. The worker asks GitHub
 * whether the author may give commands, unless they are the owner.
 */
export async function takeComment(
  payload: Payload<'issue_comment'>,
  { repository, config }: About,
  custom: CustomAutomations,
): Promise<Taken> {
  const { action, comment, changes } = payload;
  if (action !== 'created' && action !== 'edited') return `a comment that is ${action} changes nothing`;
  const hasOwn = customOf(custom, 'command').some(({ inComments }) => inComments);
  if (!repository.completeChecklistItem && !repository.logTime && !hasOwn) {
    return `${repository.name} does not allow commands in comments in relay.config.ts`;
  }
  const texts = [comment.body, changes?.body?.from];
  // With a token, the author of the relay's comments is a person who may give commands, and these comments quote other
  // people.
  if (texts.some(endsWithCommentMark)) return 'commands in comments of the relay are ignored';
  if (!texts.some((body) => MAY_BE_COMMAND.test(body ?? ''))) {
    return 'a comment without a command for this repository';
  }
  const { createVerbs, takeCommands } = await import('./on-demand.ts');
  return takeCommands(payload, repository, config, createVerbs(custom));
}
