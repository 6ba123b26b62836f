import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { HttpError, jsonAnswer, type RawRequest } from '../http/function-url.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { explained } from '../slack/explained.ts';
import { type SlackMessage, warning } from '../slack/messages.ts';
import { escaped, plain } from '../slack/mrkdwn.ts';
import { type MessageShortcut, readSlackRequest, type SlackRequest, SlackRequestError } from '../slack/request.ts';
import { ANSWER_TIMEOUT_MS } from '../slack/response-url.ts';
import { DEFECT_SHORTCUT } from '../slack/views.ts';
import { openDefectModal } from './open-modal.ts';
import { receiveButton } from './receive-button.ts';
import { receiveCommand } from './receive-command.ts';
import { faultOfForm, receiveSubmission } from './receive-submission.ts';
import type { SlackIntake } from './slack-intake.ts';

export interface ReceiveSlackOptions {
  /** Undefined where relay.config.ts has no slack. */
  intake: SlackIntake | undefined;
  log: Pick<Console, 'info'>;
  metrics: Metrics;
}

/** Answered, and there is nothing to say. */
const NOTHING: APIGatewayProxyStructuredResultV2 = { statusCode: 200, body: '' };

/**
 * Answers a verified request of Slack at once: with what there is to say, or with a job that is safe, or with a modal.
 *
 * @throws {HttpError} 400 for what cannot be read, 404 where Slack is not configured
 */
export async function receiveSlack(
  request: RawRequest,
  { intake, log, metrics }: ReceiveSlackOptions,
): Promise<APIGatewayProxyStructuredResultV2> {
  if (!intake) throw new HttpError(404, 'relay.config.ts has no slack');
  try {
    const read = readSlackRequest(request.bytes);
    if (read.kind !== 'certificate check') metrics.record({ EventsReceived: 1 });
    if (read.kind === 'other') log.info({ message: 'interaction ignored', type: read.type });
    return await answer(read, intake);
  } catch (error) {
    if (error instanceof SlackRequestError) throw new HttpError(400, error.message, { cause: error });
    throw error;
  }
}

async function answer(read: SlackRequest, intake: SlackIntake): Promise<APIGatewayProxyStructuredResultV2> {
  if (read.kind === 'certificate check' || read.kind === 'other') return NOTHING;
  const fault = await explained(intake.config.contact, () => intake.admission.faultOf(read));
  switch (read.kind) {
    case 'command': {
      const said = fault === undefined ? await receiveCommand(read, intake) : warning(escaped(fault));
      return said ? jsonAnswer(200, { response_type: 'ephemeral', ...said }) : NOTHING;
    }
    case 'message shortcut':
    case 'button':
      if (fault !== undefined) await tell(warning(escaped(fault)), read, intake);
      else if (read.kind === 'button') await receiveButton(read, intake);
      else await tell(await receiveShortcut(read, intake), read, intake);
      return NOTHING;
    case 'submission': {
      const errors = fault === undefined ? await receiveSubmission(read, intake) : faultOfForm(read, fault);
      return errors ? jsonAnswer(200, { response_action: 'errors', errors }) : NOTHING;
    }
  }
}

async function tell(said: SlackMessage | undefined, { responseUrl }: { responseUrl?: string }, intake: SlackIntake) {
  if (said && responseUrl !== undefined) {
    await intake.responseUrls.respond(responseUrl, said, 'beside', ANSWER_TIMEOUT_MS);
  }
}

/** The shortcut of a message opens the modal filled with what the message says. */
async function receiveShortcut(chosen: MessageShortcut, intake: SlackIntake): Promise<SlackMessage | undefined> {
  const { callbackId, messageText, permalink } = chosen;
  if (callbackId !== DEFECT_SHORTCUT) throw new SlackRequestError('the shortcut is none of the relay');
  const fault = await explained(intake.config.contact, () => intake.permissions.faultOf('defect', chosen));
  if (fault !== undefined) return warning(fault);
  const text = plain(messageText);
  const title = text.split('\n', 1)[0] ?? '';
  const description = text || '[The message has nothing that a form can hold: see the link.]';
  return openDefectModal({ ...chosen, title, description, permalink }, intake);
}
