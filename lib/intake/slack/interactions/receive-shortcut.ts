import { type SlackMessage, warning } from '../../../platforms/slack/messages.ts';
import { plain } from '../../../platforms/slack/mrkdwn.ts';
import { SlackRequestError } from '../../../platforms/slack/requests/fields.ts';
import type { MessageShortcut } from '../../../platforms/slack/requests/interaction.ts';
import { DEFECT_SHORTCUT } from '../../../platforms/slack/views/views.ts';
import type { SlackIntake } from '../slack-intake.ts';
import { openDefectModal } from './open-modal.ts';

/** Opens the defect modal with the message's text. */
export async function receiveShortcut(chosen: MessageShortcut, intake: SlackIntake): Promise<SlackMessage | undefined> {
  const { callbackId, messageText, permalink } = chosen;
  if (callbackId !== DEFECT_SHORTCUT) throw new SlackRequestError('this shortcut does not belong to Partner Relay');
  const fault = await intake.faultOf('defect', chosen);
  if (fault !== undefined) return warning(fault);
  const text = plain(messageText);
  const title = text.split('\n', 1)[0] ?? '';
  const description = text || '[The message has no text. See the link.]';
  return openDefectModal({ ...chosen, title, description, permalink }, intake);
}
