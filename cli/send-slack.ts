import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { slackSigningSecret } from '../lib/state/secrets/secrets.ts';
import { keys } from '../lib/state/table/keys.ts';
import { parsedJson } from '../lib/text.ts';
import { signedBySlack } from '../local/examples/signed-request.ts';
import { renderMessage } from '../local/slack/render.ts';
import { asSent } from '../local/slack/requests.ts';
import { answerInWords } from './answer-in-words.ts';
import { printText } from './print.ts';
import { reach } from './reach.ts';
import { enteredAtStart, type OpenTarget, slackWebhookUrlOf, type Target } from './target.ts';
import { addWaitOptions, jobsOf, printOutcome, refuseToWaitFor, type WaitOptions } from './wait-for-jobs.ts';

interface SendSlackOptions extends WaitOptions {
  user: string;
  channel: string;
  payload?: string;
  url?: string;
}

/** `send slack`: sends a signed command or interaction, as Slack does. */
export function addSendSlackCommand(send: Command, open: OpenTarget): void {
  const slack = send
    .command('slack [command]')
    .description('send a signed slash command, as if you typed it in Slack, and print the answer')
    .option(
      '--user <id>',
      'the person who gives the command; "npx partner-relay sandbox people" lists them',
      'U0MIRA001',
    )
    .option('--channel <id>', 'the channel in which it is given', 'C0GENERAL')
    .option('--payload <file.json>', 'send this interaction payload instead of a command')
    .option('--url <url>', 'send it to this URL, signed with SLACK_SIGNING_SECRET')
    .option('--json', 'print status and answer as JSON, and with --wait the jobs')
    .addHelpText(
      'after',
      `
  npx partner-relay send slack '/pm log 2h "Login with passkeys"'
  npx partner-relay send slack '/pm done 101' --user U0TOMASZ1
  npx partner-relay messages`,
    )
    .action(async (typed: string | undefined, _: unknown, command: Command) => {
      // Options before `slack` belong to `send`.
      const options = command.optsWithGlobals<SendSlackOptions>();
      if (typed !== undefined && options.payload !== undefined) {
        throw new Error('enter either a command or --payload, not both');
      }
      refuseToWaitFor(options.url, options.wait);
      const target = options.url ? undefined : await open();
      const { url, secret } = await whereTo(options.url, target);
      const form = options.payload
        ? new URLSearchParams({ payload: readFileSync(options.payload, 'utf8') })
        : await commandForm(typed, options, target);
      const response = await reach(url, { method: 'POST', ...signedBySlack(form, secret) });
      const answer = await response.text();
      // A stopped relay and other servers answer in plain text.
      const sent = { status: response.status, answer: answer === '' ? null : (parsedJson(answer) ?? answer) };
      if (!options.json)
        printText(
          response.ok ? readable(answer, typed === undefined) : answerInWords(sent.status, sent.answer, answer),
        );
      if (!response.ok || isRefusal(sent.answer)) process.exitCode = 1;
      const ids = options.wait && target ? await jobsOf(target.stores, causeOf(form)) : [];
      await printOutcome(sent, ids, target?.stores, options);
    });
  addWaitOptions(slack);
}

/** The event that jobs name as their cause. A button contains the event of the job that showed it. */
function causeOf(form: URLSearchParams): string {
  const { trigger_id = '', actions = [] } = JSON.parse(form.get('payload') ?? '{}') as Interaction;
  const pressed = parsedJson(actions[0]?.value ?? '') as { happened?: string } | undefined;
  return form.get('trigger_id') ?? pressed?.happened ?? trigger_id;
}

interface Interaction {
  trigger_id?: string;
  actions?: { value?: string }[];
}

async function commandForm(typed: string | undefined, options: SendSlackOptions, target: Target | undefined) {
  const [, command, text = ''] = /^(\/\S+)\s*(.*)$/s.exec(typed ?? '') ?? [];
  if (command === undefined)
    throw new Error("enter a command as you type it in Slack, such as '/pm help', or use --payload");
  const place = target?.slackStandIn === undefined ? undefined : await placeAt(target.slackStandIn, options);
  const teamId = place?.teamId ?? (await installedIn(target));
  return new URLSearchParams({
    ...(teamId !== undefined && { team_id: teamId }),
    command,
    text: asSent(text),
    user_id: options.user,
    channel_id: options.channel,
    // A deployed relay cannot open a form with this id, and sends later messages as direct messages.
    trigger_id: place?.triggerId ?? `${Date.now()}.0.sent-from-the-command-line`,
    response_url: place?.responseUrl ?? 'https://hooks.slack.com/commands/sent-from-the-command-line',
  });
}

/** The workspace where the deployed relay's app is installed. */
async function installedIn(target: Target | undefined): Promise<string | undefined> {
  const remembered = await target?.stores.table.get(keys.slackWorkspace());
  return (remembered?.workspace as { team_id: string } | undefined)?.team_id;
}

/** The fields that Slack adds to a command, from the local stand-in. */
async function placeAt({ url, headers }: NonNullable<Target['slackStandIn']>, { user, channel }: SendSlackOptions) {
  const body = JSON.stringify({ userId: user, channelId: channel });
  const response = await reach(`${url}/response-url`, { method: 'POST', headers, body });
  const answer = (await response.json()) as {
    responseUrl: string;
    triggerId: string;
    teamId: string;
    error?: string;
  };
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

async function whereTo(url: string | undefined, target: Target | undefined): Promise<{ url: string; secret: string }> {
  if (target) {
    const toSlack = slackWebhookUrlOf(target);
    const secret = target.stores.secrets.current('slack', slackSigningSecret);
    return { url: toSlack, secret: (await enteredAtStart('slack', target, secret)).signingSecret };
  }
  const secret = process.env.SLACK_SIGNING_SECRET;
  if (url && secret) return { url, secret };
  throw new Error('set SLACK_SIGNING_SECRET to the signing secret of the app at that URL');
}

/** Whether the answer says that the command was not carried out, or asks first. */
function isRefusal(answer: unknown): boolean {
  return (
    typeof answer === 'object' && answer !== null && 'text' in answer && /^:(warning|question):/.test(`${answer.text}`)
  );
}

function readable(answer: string, isInteraction: boolean): string {
  if (answer === '')
    return isInteraction
      ? '(accepted, without a text: npx partner-relay messages shows a message, if one came)'
      : '(no text: a form was opened)';
  const json = parsedJson(answer) as { text?: string; blocks?: [] } | undefined;
  return json?.blocks ? renderMessage({ text: json.text ?? '', blocks: json.blocks }) : answer.trim();
}
