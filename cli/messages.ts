import type { Command } from 'commander';
import type { Sent } from '../local/slack/control.ts';
import { renderMessage, renderView } from '../local/slack/render.ts';
import { printJson } from './print.ts';
import { reach } from './reach.ts';
import type { OpenTarget } from './target.ts';

/** `messages`: what would have gone out to Slack. */
export function addMessagesCommand(program: Command, open: OpenTarget): void {
  program
    .command('messages')
    .description('what went out to Slack, where a relay without a Slack token runs on this machine')
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) => {
      const { slackStandIn } = await open();
      if (!slackStandIn) throw new Error('this relay speaks to Slack itself; look there');
      const response = await reach(`${slackStandIn.url}/messages`, { headers: slackStandIn.headers });
      const sent = (await response.json()) as Sent[];
      if (options.json) return printJson(sent);
      if (sent.length === 0) console.log('Nothing went out yet.');
      for (const one of sent) console.log(told(one));
    });
}

function told(sent: Sent): string {
  const at = new Date(sent.at).toTimeString().slice(0, 8);
  if (sent.kind === 'view') return `${at}  a form for ${sent.userId}\n${indented(renderView(sent))}`;
  const to = sent.kind === 'ephemeral' ? `${sent.userId} in ${sent.channel}` : (sent.userId ?? sent.channel);
  return `${at}  to ${to}\n${indented(renderMessage(sent))}`;
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, '          ');
}
