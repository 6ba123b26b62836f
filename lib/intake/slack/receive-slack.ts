import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { warning } from '../../platforms/slack/messages.ts';
import { escaped } from '../../platforms/slack/mrkdwn.ts';
import { SlackRequestError } from '../../platforms/slack/requests/fields.ts';
import { readSlackRequest, type SlackCommand } from '../../platforms/slack/requests/request.ts';
import { HttpError, jsonAnswer, type RawRequest } from '../../state/http/function-url.ts';
import type { Metrics } from '../../state/metrics/metrics.ts';
import { receiveCommand } from './receive-command.ts';
import type { SlackAnswer, SlackIntake } from './slack-intake.ts';

export interface ReceiveSlackOptions {
  /** Undefined if relay.config.ts has no slack. */
  intake: SlackIntake | undefined;
  log: Pick<Console, 'info'>;
  metrics: Metrics;
}

/**
 * Answers a verified Slack request immediately: with a message, with a safely stored job, or with a modal. Code for
 * requests other than commands is loaded on demand, to keep the cold start short.
 *
 * @throws {HttpError} 400 if the request cannot be read, 404 if Slack is not configured
 */
export async function receiveSlack(
  { bytes }: RawRequest,
  options: ReceiveSlackOptions,
): Promise<APIGatewayProxyStructuredResultV2> {
  const { intake } = options;
  if (!intake) throw new HttpError(404, 'relay.config.ts has no slack');
  try {
    const answer = await answerTo(bytes, intake, options);
    return answer ? jsonAnswer(200, answer) : { statusCode: 200, body: '' };
  } catch (error) {
    if (error instanceof SlackRequestError) throw new HttpError(400, error.message, { cause: error });
    throw error;
  }
}

async function answerTo(
  bytes: Uint8Array,
  intake: SlackIntake,
  { log, metrics }: Omit<ReceiveSlackOptions, 'intake'>,
): Promise<SlackAnswer> {
  const read = readSlackRequest(bytes);
  if (read.kind === 'certificate check') return undefined;
  if (read.kind === 'interaction') {
    const { receiveInteraction } = await import('./interactions/receive-interaction.ts');
    return receiveInteraction(read.payload, intake, { log, metrics });
  }
  metrics.record({ EventsReceived: 1 });
  return answerCommand(read, intake);
}

async function answerCommand(typed: SlackCommand, intake: SlackIntake): Promise<SlackAnswer> {
  const readBefore = intake.readTurns(typed.userId);
  // If the read fails, only commands that need it fail.
  readBefore.catch(() => {});
  const fault = await intake.admission.faultOf(typed);
  const said = fault === undefined ? await receiveCommand(typed, readBefore, intake) : warning(escaped(fault));
  return said && { response_type: 'ephemeral', ...said };
}
