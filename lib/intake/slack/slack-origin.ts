import type * as z from 'zod/mini';
import type { CommandOrigin } from '../../automations/verb.ts';
import type { Command } from '../../automations/verbs.ts';
import type { ReadTurns } from '../../people/turns.ts';
import type { placeAsked } from '../../platforms/slack/command-button.ts';

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

/** A command, the person who gave it, and the place. */
export interface GivenCommand extends SlackRequester {
  command: Command;
  /** Opens a modal; valid for three seconds. */
  triggerId: string;
  channelId: string;
  /** The person's earlier requests, if they were read while the person was checked. */
  readBefore?: ReadTurns;
  /** Set for a typed command, but not for a button, because the person has read its label. */
  isTyped?: true;
  /** Set for a button in a job's message: where the person requested that job. */
  from?: z.output<typeof placeAsked> | undefined;
  /** Set for the button of a confirmation. */
  isSure?: true | undefined;
}

/** Returns the origin of a Slack command for its verb's job. */
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
    // Preliminary: accept-request.ts decides the lane.
    lane: 'interactive',
    entity: `slack-${userId}`,
    replyTo: { in: 'slack', userId, ...channel, responseUrl },
  };
}
