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
  /** What the person requested before, if it was read while they were checked. */
  readBefore?: ReadTurns;
  /** Not in a button, whose label the person has read. */
  isTyped?: true;
  /** Set for a button in the message of a job: where the person asked for that. */
  from?: z.output<typeof placeAsked> | undefined;
  /** Set for the button of a question whether the person means it. */
  isSure?: true | undefined;
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
    // Until the job is accepted: accept-request.ts.
    lane: 'interactive',
    entity: `slack-${userId}`,
    replyTo: { in: 'slack', userId, ...channel, responseUrl },
  };
}
