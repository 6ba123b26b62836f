import type { Page } from '../../config/pages.ts';

/**
 * Escapes text from outside for mrkdwn, so that it has no active links, mentions or pings.
 * https://docs.slack.dev/messaging/formatting-message-text#escaping
 */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A code span that text from outside cannot break out of. */
export function code(text: string): string {
  return `\`${escaped(text).replaceAll('`', 'ˋ').replaceAll(/\s+/g, ' ')}\``;
}

/** A link. Its text has no marks, in which an id could be formatting. */
export const linkTo = ({ name, url }: Page) => `<${escaped(url)}|${escaped(name.replaceAll(/[*_~`|]/g, ' '))}>`;

/** A time that each reader sees in their own time zone, or in UTC if their client cannot convert it. */
export function time(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const utc = `${new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return `<!date^${seconds}^{date_short_pretty} {time}|${utc}>`;
}

/** Converts mrkdwn that a person wrote to plain text, with readable links and mentions and nothing escaped. */
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
