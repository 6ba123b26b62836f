/**
 * Text from outside for mrkdwn: nothing in it is a link, a mention or a ping any more.
 * https://docs.slack.dev/messaging/formatting-message-text#escaping
 */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A span of code, which text from outside cannot leave. */
export function code(text: string): string {
  return `\`${escaped(text).replaceAll('`', 'ˋ').replaceAll(/\s+/g, ' ')}\``;
}

/** A moment as everybody sees it in their own time zone, and as UTC where a client cannot. */
export function time(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const utc = `${new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return `<!date^${seconds}^{date_short_pretty} {time}|${utc}>`;
}

/** What somebody wrote in Slack as plain text: links and mentions as they read, nothing escaped. */
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
