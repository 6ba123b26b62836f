import { localTime } from '../lib/dates.ts';
import type { ListedMessage } from '../local/slack/control.ts';
import { renderMessage, renderView } from '../local/slack/render.ts';
import type { Define } from './cli.ts';
import { printJson } from './print.ts';
import { reach } from './reach.ts';

/** `messages`: shows what the relay would have sent to Slack. */
export const define: Define = (command, { open, readConfig }) =>
  command
    .description('show the messages sent to the local Slack stand-in, which replaces Slack if there is no Slack token')
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) => {
      const { slackStandIn } = await open();
      if (!slackStandIn)
        throw new Error(
          (await readConfig()).slack
            ? 'this relay sends its messages to the real Slack: look there'
            : 'this relay has no Slack: add slack to relay.config.ts, and restart it',
        );
      const response = await reach(`${slackStandIn.url}/messages`, { headers: slackStandIn.headers });
      const sent = (await response.json()) as ListedMessage[];
      if (options.json) return printJson(sent);
      if (sent.length === 0) console.log('Nothing has been sent since the relay started.');
      for (const one of sent) console.log(told(one));
    });

function told(sent: ListedMessage): string {
  const at = localTime(sent.at);
  if (sent.kind === 'view') return `${at}  a form for ${sent.userId}\n${indented(renderView(sent))}`;
  const to = sent.kind === 'ephemeral' ? `${sent.userId} in ${sent.channel}` : (sent.userId ?? sent.channel);
  return `${at}  to ${to}\n${indented(renderMessage(sent))}`;
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, '          ');
}
