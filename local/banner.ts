import { counted } from '../lib/text.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { LocalSlack } from './local-slack.ts';
import type { Partner } from './partners.ts';
import type { Entered } from './secrets.ts';
import { withDocsHere } from './terminal.ts';

export interface BannerFacts {
  url: string;
  /** The address of the console, with its token. */
  consoleUrl: string;
  webhookSecret: Entered<string>;
  /** Where the relay's comments go. */
  comments: string;
  slack: LocalSlack | undefined;
  /** By connection. */
  partners: ReadonlyMap<string, Partner>;
  sandbox: Sandbox | undefined;
  folder: string;
  unfinished: number;
  /** For each file of automations/, what it does or what is wrong with it. */
  own: readonly string[];
  /** Whether to print addresses, keys and secrets, too. */
  verbose: boolean;
}

/** Prints what a person needs once the relay runs. It names secrets that a person entered, but does not show them. */
export function banner(facts: BannerFacts): string {
  const { consoleUrl, slack, sandbox, folder, unfinished, own, verbose } = facts;
  return `
Partner Relay is running on this machine${sandbox ? ', with a sandbox in place of the service' : ''}.
In a second terminal in this folder:

  npx partner-relay send issues    # turns GitHub's example issue into a defect
${slack ? SLACK_HINT : ''}  npx partner-relay jobs           # shows what happened

Or open the console in your browser:

  ${consoleUrl}
${verbose ? `\n${addresses(facts)}` : ''}
${unfinished > 0 ? `${counted(unfinished, 'unfinished job')} of ${folder} will continue, ${unfinished === 1 ? '' : 'each '}now or at the time that it waits for.\n` : ''}${own.map((line) => `${line}\n`).join('')}${verbose ? '' : 'For addresses, keys and secrets: stop this, and run npx partner-relay start --verbose\n'}`;
}

const SLACK_HINT = `  npx partner-relay send slack '/pm log 1h30m Login with passkeys' # logs time
`;

/** The addresses of the relay on this machine, and the keys for them. */
function addresses({ url, webhookSecret, comments, slack, sandbox, partners, folder }: BannerFacts): string {
  return `  webhook      ${url}/github
  secret       ${secretText(webhookSecret)}
${slack ? slackLines(url, slack) : ''}${partnerLines(partners, sandbox)}  comments     ${comments}
  state        ${folder}/
${sandbox ? faultsHint(sandbox) : ''}`;
}

/** Shows a generated secret and its file, because a person has to enter it elsewhere. */
function secretText({ value, from }: Entered<string>): string {
  return from.endsWith('.key') ? `${value} (kept in ${from})` : `that of ${from}`;
}

function slackLines(url: string, { signingSecret, standIn }: LocalSlack): string {
  const messages = standIn ? 'kept until you stop this; npx partner-relay messages shows them' : 'sent to Slack';
  return `  Slack        ${url}/slack/commands and /slack/interactions
  its secret   ${secretText(signingSecret)}
  messages     ${messages}
`;
}

function partnerLines(partners: BannerFacts['partners'], sandbox: Sandbox | undefined): string {
  const lines = [...partners].map(([connection, { baseUrl, apiKey, secretKey }]) => {
    const of = partners.size > 1 ? ` for ${connection}` : '';
    return `  service      ${baseUrl}${of}${sandbox ? ' (the sandbox)' : ''}
  API key      ${apiKey}
${sandbox ? `  secret key   ${secretKey}\n` : ''}`;
  });
  return lines.join('');
}

function faultsHint({ url, controlKey }: Sandbox): string {
  return `
Simulate a fault (${withDocsHere('docs/console.md#break-the-sandbox')} lists them). This loses the answer to the next creation:

  curl ${url}/sandbox/faults -H 'authorization: Bearer ${controlKey}' \\
    -d '{"kind":"cut","when":"after work","operation":"/defects/create","times":1}'
`;
}
