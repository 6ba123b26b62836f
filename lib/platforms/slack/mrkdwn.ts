import type { Page } from '../../config/pages.ts';

/**
 * Escapes text from outside for mrkdwn, so that it has no active links, mentions or pings.
 * https://docs.slack.dev/messaging/formatting-message-text#escaping
 */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Returns a code span that text from outside cannot close. */
export function code(text: string): string {
  return `\`${escaped(text).replaceAll('`', 'ˋ').replaceAll(/\s+/g, ' ')}\``;
}

/** Returns a link. Formatting characters are removed from its text, because an id may contain them. */
export const linkTo = ({ name, url }: Page) => `<${escaped(url)}|${escaped(name.replaceAll(/[*_~`|]/g, ' '))}>`;

/** Formats a time for each reader's time zone, or for UTC if their client cannot convert it. */
export function time(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const utc = `${new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return `<!date^${seconds}^{date_short_pretty} {time}|${utc}>`;
}

/** Formats the end of a wait. People see no seconds, so a time in this minute would already have passed for them. */
export const nextMinute = (ms: number): string => time(Math.ceil(ms / 60_000) * 60_000);

/** Converts a person's mrkdwn to plain text, with readable links and mentions, and without escapes. */
export function plain(mrkdwn: string): string {
  return mrkdwn
    .replaceAll(/<([^<>|]*)(?:\|([^<>]*))?>/g, (_, target: string, label: string | undefined) => {
      if (/^[@#!]/.test(target)) return label ? `${target[0] === '#' ? '#' : ''}${label}` : target.replace('!', '@');
      return label && label !== target ? `${label} (${target})` : target;
    })
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
