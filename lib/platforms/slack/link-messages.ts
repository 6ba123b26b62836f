import type { Button } from '@slack/types';
import * as z from 'zod/mini';
import { button, message, type SlackMessage, section, warning } from './messages.ts';
import { code, escaped, time } from './mrkdwn.ts';

/**
 * A button that creates a link for the person who presses it. The URL is created at that moment, because a URL in an
 * old message would have expired.
 */
export const LINK_BUTTON = 'link-account';
/** A button that opens a URL. Slack also reports to the relay that it was pressed. */
export const OPEN_BUTTON = 'open-url';

/** The value of a {@link LINK_BUTTON}. */
export const accountToLink = z.object({
  connection: z.string(),
  /** The missing scopes. They are requested even if the instance does not list them. */
  scopes: z.optional(z.array(z.string())),
});

/** @param scopes the missing scopes */
export function linkButton(connection: string, scopes: readonly string[] = []): Button {
  const value = { connection, ...(scopes.length > 0 && { scopes: [...scopes] }) } satisfies z.output<
    typeof accountToLink
  >;
  return button('Link your account', LINK_BUTTON, JSON.stringify(value), 'primary');
}

/** The answer if accounts cannot be linked. */
export const notOffered = ({ contact }: { contact: string }): SlackMessage =>
  warning(
    `People do not link accounts here. Partner Relay does what you ask with its own account; ${escaped(contact)} can change that.`,
  );

/** Asks a person to link an account, with a button. @param why the reason, as a sentence in mrkdwn */
export function linkMessage(why: string, connection: string, scopes?: readonly string[]): SlackMessage {
  return message(section(`:link: ${why}`), linkButton(connection, scopes));
}

/** @param until epoch milliseconds */
export function openLinkMessage(link: { url: string; until: number; command: string }): SlackMessage {
  const { url, until, command } = link;
  const steps = [
    `This link is only for you, and works until ${time(until)}, or your next one. Do not share it.`,
    `Sign in and allow the access. The page then shows a code. Type it here: ${code(`${command} link <code>`)}`,
  ];
  const open: Button = { ...button('Open in the browser', OPEN_BUTTON, 'account-link', 'primary'), url };
  return message(section(`:link: ${steps.join('\n')}`), open);
}
