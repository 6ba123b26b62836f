import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { warning } from '../../../platforms/slack/messages.ts';
import { code } from '../../../platforms/slack/mrkdwn.ts';
import { readInteraction } from '../../../platforms/slack/requests/interaction.ts';
import { readSlackRequest } from '../../../platforms/slack/requests/request.ts';
import { jsonAnswer } from '../../../state/http/function-url.ts';
import { faultOfForm } from './receive-submission.ts';

const UNKNOWN = 'Partner Relay got no answer in time, so your request may or may not be saved.';

/**
 * Answers a person while AWS does not respond.
 * @returns undefined for a button, because Slack itself shows its failure
 */
export function answerInSilence(bytes: Uint8Array, slash: string): APIGatewayProxyStructuredResultV2 | undefined {
  const request = readSlackRequest(bytes);
  if (request.kind === 'command') {
    const said = warning(
      `${UNKNOWN} ${code(`${slash} status`)} shows your last requests. If your request is not there, try again.`,
    );
    return jsonAnswer(200, { response_type: 'ephemeral', ...said });
  }
  const read = request.kind === 'interaction' ? readInteraction(request.payload) : undefined;
  if (read?.kind !== 'submission') return undefined;
  // A repeated form has the same id.
  const errors = faultOfForm(read, `${UNKNOWN} Send the form again: it counts once.`);
  return jsonAnswer(200, { response_action: 'errors', errors });
}
