import { createHmac, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { githubWebhookSecret } from '../lib/secrets/secrets.ts';
import { exampleDelivery } from './example-delivery.ts';
import { printJson, printText } from './print.ts';
import { reach } from './reach.ts';
import { addSendSlackCommand } from './send-slack.ts';
import type { OpenTarget } from './target.ts';

interface SendOptions {
  action?: string;
  issue?: number;
  file?: string;
  url?: string;
  json?: boolean;
}

/** `send`: sends a signed delivery, as GitHub does. Its subcommand `slack` sends requests as Slack does. */
export function addSendCommand(program: Command, open: OpenTarget): void {
  const send = program
    .command('send')
    .argument('<event>')
    .description("send a signed GitHub event, by default one of GitHub's examples; each issue is a new one")
    .option('--action <action>', 'the action of the example: labeled, closed, …')
    .option('--issue <number>', 'use this issue instead of a new one', issueNumber)
    .option('--file <payload.json>', 'send this payload unchanged')
    .option('--url <url>', 'send it to this URL, signed with GITHUB_WEBHOOK_SECRET')
    .option('--json', 'print status and answer as JSON')
    .addHelpText(
      'after',
      `
  npm run -s relay -- send issues
  npm run -s relay -- send issues --action closed --issue 123456`,
    )
    .action(async (event: string, options: SendOptions) => {
      const body = options.file
        ? readFileSync(options.file)
        : Buffer.from(JSON.stringify(exampleDelivery(event, options.action, options.issue)));
      const { url, secret } = await whereTo(options.url, open);
      const response = await reach(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'GitHub-Hookshot/partner-relay',
          'x-github-event': event,
          'x-github-delivery': randomUUID(),
          'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
        },
        body,
      });
      const answer = await response.text();
      if (options.json) printJson({ status: response.status, answer: JSON.parse(answer) });
      else printText(`${response.status} ${answer.trim()}`);
      if (!response.ok) process.exitCode = 1;
    });
  addSendSlackCommand(send, open);
}

async function whereTo(url: string | undefined, open: OpenTarget): Promise<{ url: string; secret: string }> {
  const secret = process.env.GITHUB_WEBHOOK_SECRET;
  if (url) {
    if (secret) return { url, secret };
    throw new Error('set GITHUB_WEBHOOK_SECRET to the secret of that webhook');
  }
  const { githubWebhookUrl, stores } = await open();
  const { webhookSecret } = await stores.secrets.current('github-webhook', githubWebhookSecret);
  return { url: githubWebhookUrl, secret: webhookSecret };
}

function issueNumber(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError('expected the number of an issue.');
  return number;
}
