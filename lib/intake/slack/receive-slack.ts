import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { isRunButton } from '../../platforms/slack/command-button.ts';
import { explained } from '../../platforms/slack/explained.ts';
import { type SlackMessage, warning } from '../../platforms/slack/messages.ts';
import { escaped } from '../../platforms/slack/mrkdwn.ts';
import { SlackRequestError } from '../../platforms/slack/requests/fields.ts';
import { readSlackRequest, type SlackRequest } from '../../platforms/slack/requests/request.ts';
import { ANSWER_TIMEOUT_MS } from '../../platforms/slack/response-url.ts';
import { HttpError, jsonAnswer, type RawRequest } from '../../state/http/function-url.ts';
import type { Metrics } from '../../state/metrics/metrics.ts';
import { receiveCommand, receiveCommandButton } from './receive-command.ts';
import type { SlackIntake } from './slack-intake.ts';

export interface ReceiveSlackOptions {
  /** Undefined if relay.config.ts has no slack. */
  intake: SlackIntake | undefined;
  log: Pick<Console, 'info'>;
  metrics: Metrics;
}

/** An answer without a message. */
const NOTHING: APIGatewayProxyStructuredResultV2 = { statusCode: 200, body: '' };

/**
 * Answers a verified Slack request immediately: with a message, with a job that is safely stored, or with a modal. What
 * a command that becomes a job does not need is loaded on demand.
 *
 * @throws {HttpError} 400 if the request cannot be read, 404 if Slack is not configured
 */
export async function receiveSlack(
  request: RawRequest,
  { intake, log, metrics }: ReceiveSlackOptions,
): Promise<APIGatewayProxyStructuredResultV2> {
  if (!intake) throw new HttpError(404, 'relay.config.ts has no slack');
  try {
    const read = await readSlackRequest(request.bytes);
    if (read.kind !== 'certificate check' && read.kind !== 'typed in list') metrics.record({ EventsReceived: 1 });
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
      else if (read.kind === 'message shortcut') {
        const { receiveShortcut } = await import('./beyond-jobs.ts');
        await tell(await receiveShortcut(read, intake), read, intake);
      } else if (isRunButton(read.actionId)) await receiveCommandButton(read, intake);
      else await (await import('./beyond-jobs.ts')).receiveButton(read, intake);
      return NOTHING;
    case 'typed in list': {
      const { suggestTasks } = await import('./beyond-jobs.ts');
      return jsonAnswer(200, { options: fault === undefined ? await suggestTasks(read, intake) : [] });
    }
    case 'submission': {
      const { faultOfForm, receiveSubmission } = await import('./beyond-jobs.ts');
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
