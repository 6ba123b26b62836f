import type { CommandOrigin } from '../../automations/verb.ts';

/** A person who requests something in Slack. */
export interface SlackRequester {
  /** Identifies this request: a `trigger_id`, or the id of a form. */
  happened: string;
  userId: string;
  userName: string;
  channelId?: string;
  /** Set for commands and buttons. Without it, the reply is a direct message. */
  responseUrl?: string | undefined;
}

/** The origin of a Slack command, for the job of its verb. */
export function slackOrigin(
  { happened, userId, userName, channelId, responseUrl }: SlackRequester,
  connection: string,
): CommandOrigin {
  const channel = channelId === undefined ? {} : { channelId };
  return {
    happened: [happened],
    by: { in: 'slack', id: userId },
    byName: userName,
    ...channel,
    connection,
    lane: 'interactive',
    entity: `slack-${userId}`,
    replyTo: { in: 'slack', userId, ...channel, ...(responseUrl !== undefined && { responseUrl }) },
  };
}
