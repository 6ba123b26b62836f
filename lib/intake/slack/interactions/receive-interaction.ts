import { isRunButton } from '../../../platforms/slack/command-button.ts';
import { type SlackMessage, warning } from '../../../platforms/slack/messages.ts';
import { escaped } from '../../../platforms/slack/mrkdwn.ts';
import { isAnswerButton } from '../../../platforms/slack/question.ts';
import { readInteraction } from '../../../platforms/slack/requests/interaction.ts';
import type { Metrics } from '../../../state/metrics/metrics.ts';
import { receiveCommandButton } from '../receive-command.ts';
import type { SlackAnswer, SlackIntake } from '../slack-intake.ts';
import { receiveAnswer } from './receive-answer.ts';
import { receiveButton } from './receive-button.ts';
import { receiveShortcut } from './receive-shortcut.ts';
import { faultOfForm, receiveSubmission } from './receive-submission.ts';
import { suggestTasks } from './suggest-tasks.ts';

/**
 * Answers an interaction in a message or form.
 * @throws {SlackRequestError}
 */
export async function receiveInteraction(
  payload: string,
  intake: SlackIntake,
  { log, metrics }: { log: Pick<Console, 'info'>; metrics: Metrics },
): Promise<SlackAnswer> {
  const read = readInteraction(payload);
  // A list sends a request for every typed letter.
  if (read.kind !== 'typed in list') metrics.record({ EventsReceived: 1 });
  if (read.kind === 'other') {
    log.info({ message: 'interaction ignored', type: read.type });
    return undefined;
  }
  const fault = await intake.admission.faultOf(read);
  switch (read.kind) {
    case 'message shortcut':
      await tell(fault === undefined ? await receiveShortcut(read, intake) : warning(escaped(fault)), read.responseUrl);
      return undefined;
    case 'button':
      if (fault !== undefined) await tell(warning(escaped(fault)), read.responseUrl);
      else if (isAnswerButton(read.actionId)) await receiveAnswer(read, intake);
      else if (isRunButton(read.actionId)) await receiveCommandButton(read, intake);
      else await tell(await receiveButton(read, intake), read.responseUrl);
      return undefined;
    case 'typed in list':
      return { options: fault === undefined ? await suggestTasks(read, intake) : [] };
    case 'submission': {
      const errors = fault === undefined ? await receiveSubmission(read, intake) : faultOfForm(read, fault);
      return errors && { response_action: 'errors', errors };
    }
  }

  async function tell(said: SlackMessage | undefined, responseUrl: string | undefined): Promise<void> {
    if (said) await intake.responseUrls.respond(responseUrl, said, 'beside');
  }
}
