import type { CommandOrigin } from '../automations/verb.ts';

/** A person who asks for something in Slack. */
export interface SlackRequester {
  /** What makes it this request and no other: a `trigger_id`, or the id of a form. */
  happened: string;
  userId: string;
  userName: string;
  channelId?: string;
  /** Of a command or a button; without one the reply is a direct message. */
  responseUrl?: string | undefined;
}

/** Where a command of Slack was given, for the job of its verb. */
export function slackOrigin(
  { happened, userId, userName, channelId, responseUrl }: SlackRequester,
  connection: string,
): CommandOrigin {
  return {
    happened: [happened],
    by: { in: 'slack', id: userId },
    byName: userName,
    ...(channelId !== undefined && { channelId }),
    connection,
    lane: 'interactive',
    entity: `slack-${userId}`,
    replyTo: { in: 'slack', userId, ...(responseUrl !== undefined && { responseUrl }) },
  };
}
