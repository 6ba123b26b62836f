import { existsSync, readFileSync } from 'node:fs';
import * as z from 'zod';
import { readCustomAutomations } from '../lib/automations/custom/folder.ts';
import { configFile } from '../lib/config/config-file.ts';
import { githubWebhookSecret } from '../lib/state/secrets/secrets.ts';
import { parsedJson } from '../lib/text.ts';
import { exampleEvent } from '../local/examples/github-event.ts';
import { signedByGithub } from '../local/examples/signed-request.ts';
import { answerInWords } from './answer-in-words.ts';
import type { Cli, Define } from './cli.ts';
import { exampleRun } from './example-run.ts';
import { readCount } from './numbers.ts';
import { printText } from './print.ts';
import { reach } from './reach.ts';
import { addSendHookCommand } from './send-hook.ts';
import { addSendSlackCommand } from './send-slack.ts';
import type { OpenTarget, Target } from './target.ts';
import { addWaitOptions, jobsOf, printOutcome, refuseToWaitFor, type WaitOptions } from './wait-for-jobs.ts';

interface SendOptions extends WaitOptions {
  action?: string;
  issue?: number;
  body?: string;
  label?: string[];
  merged?: boolean;
  repo?: string;
  set?: string[];
  junit?: string;
  file?: string;
  url?: string;
}

/** `send`: sends a signed delivery, as GitHub does. Its subcommand `slack` sends what Slack sends. */
export const define: Define = (send, { open, readConfig, stage, customFolder }) => {
  send
    // Options after `slack` belong to it, even if `send` has them, too.
    .enablePositionalOptions()
    .argument('[event]', 'issues, or with its action release.published; by default, the event that fits the options')
    .description("send a signed GitHub event, made from GitHub's examples; each issue and comment is a new one")
    .option('--action <action>', 'the action of the event: labeled, closed, …')
    .option('--issue <number>', 'use this issue instead of a new one', readCount)
    .option('--body <text>', 'the text of a comment, or the description of an issue or pull request')
    .option('--label <name>', 'the label of the issue; repeat it for more', collected)
    .option('--merged', 'a pull request that has just been merged')
    .option(
      '--set <field=value>',
      'a field of the payload: deployment_status.state=failure; repeat it for more',
      collected,
    )
    .option(
      '--repo <owner/name>',
      'the repository; by default the first of relay.config.ts, or for a --stage or --url that of the examples',
    )
    .option('--junit <folder>', 'a workflow_run whose artifact is this folder of JUnit XML, at the stand-in for GitHub')
    .option('--file <payload.json>', 'send this payload unchanged')
    .option('--url <url>', 'send it to this URL, signed with GITHUB_WEBHOOK_SECRET')
    .option('--json', 'print the delivery, the status and the answer as JSON, and with --wait the jobs')
    .addHelpText(
      'after',
      `
A new issue, with labels and in a repository of yours:
  npx partner-relay send issues
  npx partner-relay send issues --label bug --label urgent --repo acme/web

The same issue, closed. The first command printed its number:
  npx partner-relay send issues --action closed --issue 123456

A comment with a command. "npx partner-relay sandbox items" lists the ids of checklist items:
  npx partner-relay send --body '/done 101'

A merged pull request that completes a checklist item:
  npx partner-relay send --merged --body 'Completes checklist item 102'

A new pull request, with a check that says whether the task exists. "npx partner-relay sandbox tasks" lists the ids of tasks:
  npx partner-relay send pull_request --body 'Task: d94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01'

Wait for the result, in a script:
  npx partner-relay send issues --wait && echo done

Any other event that an automation of yours takes:
  npx partner-relay send release.published --repo acme/web
  npx partner-relay send deployment_status --set deployment_status.state=failure

A payload that you saved:
  npx partner-relay send issues --file payload.json

A workflow run with test results:
  npx partner-relay send workflow_run --junit node_modules/partner-relay/docs/guides/junit

What another tool would send to a webhook of yours, signed with its secret:
  npx partner-relay send hook sentry-to-defect alert.json

What you would type in Slack:
  npx partner-relay send slack '/pm find checkout'`,
    )
    .action(async (given: string | undefined, { action, ...rest }: SendOptions) => {
      const [event, ofEvent] = given?.split('.', 2) ?? [];
      if (action !== undefined && ofEvent !== undefined)
        throw new Error(`${given} names its action already: leave out --action`);
      const options = { ...rest, action: action ?? (rest.file === undefined ? ofEvent : undefined) };
      // In a repository that a stage knows, the event would create real defects.
      const isHere = stage() === undefined && options.url === undefined && options.file === undefined;
      const repository = options.repo ?? (isHere ? await firstRepository(readConfig) : undefined);
      const delivery = deliveryOf(event, options, repository);
      const { url, secret, target } = await whereTo(options, open);
      if (options.junit !== undefined && target) {
        delivery.body = JSON.stringify(await exampleRun(options.junit, repository, target));
      }
      const { headers, body } = signedByGithub(delivery.event, delivery.body, secret);
      const response = await reach(url, { method: 'POST', headers, body });
      const answer = await response.text();
      const id = headers['x-github-delivery'];
      const about = subjectOf(delivery.body);
      const sent = { delivery: id, about, status: response.status, answer: parsedJson(answer) };
      if (!options.json) {
        const what = about === undefined ? '' : ` for ${about}`;
        printText(
          `Sent the event ${delivery.event}${what}, delivery ${id}\n${answerInWords(sent.status, sent.answer, answer)}`,
        );
        // The delivery was accepted, so a fault of the configuration does not fail the command.
        if (target && stage() === undefined && UNHANDLED.test(answer))
          await nameLeftOut(readConfig, customFolder).catch(() => {});
      }
      if (!response.ok) process.exitCode = 1;
      // If a team's file fails on the delivery, the built-in automations still make their jobs.
      const found = response.ok || !options.wait || !target ? [] : await jobsOf(target.stores, id ?? '');
      const ids = accepted.safeParse(sent.answer).data?.jobs ?? found;
      await printOutcome(sent, ids, target?.stores, options);
    });
  addWaitOptions(send);
  addSendSlackCommand(send, open);
  addSendHookCommand(send, open);
};

const UNHANDLED = /"no automation handles /;

/** Names the files of automations/ that may be missing for this event. */
async function nameLeftOut(readConfig: Cli['readConfig'], folder: string | undefined): Promise<void> {
  const { faults } = await readCustomAutomations(await readConfig(), folder);
  const files = new Set(faults.flatMap((fault) => /^automations\/[^:]+/.exec(fault) ?? []));
  for (const file of files)
    printText(`${file} is left out, because it has a fault. To see it, run npx partner-relay config check.`);
}

/** Where to send the delivery, and the relay to read the jobs from; undefined with `--url`. */
interface Receiver {
  url: string;
  secret: string;
  target?: Target;
}

const accepted = z.object({ jobs: z.array(z.string()) });

interface Delivery {
  event: string;
  body: string;
}

/** Builds the delivery. @throws {Error} if the options do not fit together */
function deliveryOf(event: string | undefined, options: SendOptions, repository: string | undefined): Delivery {
  const { file, label, repo, action, issue, body, merged, set, junit, url } = options;
  const shaping = { label, repo, action, issue, body, merged, set, junit };
  if (file !== undefined) {
    refuse('--file', shaping);
    if (event === undefined) {
      throw new Error(`a payload does not name its event: use send <event> --file ${file}, such as send issues`);
    }
    return { event, body: readPayload(file) };
  }
  if (junit !== undefined) {
    if (event !== 'workflow_run') throw new Error('--junit is for workflow_run: send workflow_run --junit <folder>');
    refuse('--junit', { label, action, issue, body, merged, set, url }, 'makes a run that has ended');
  }
  const made = exampleEvent({ event, action, issue, body, merged, labels: label, repository, set });
  return { event: made.event, body: JSON.stringify(made.payload) };
}

/**
 * The first configured repository. Undefined without a configuration here; then the event has the repository of
 * GitHub's examples.
 */
async function firstRepository(readConfig: Cli['readConfig']): Promise<string | undefined> {
  // Without a configuration, the relay has that of the examples.
  return existsSync(configFile()) ? (await readConfig()).github.repositories[0]?.name : undefined;
}

function refuse(option: string, others: object, does = 'sends a payload unchanged'): void {
  const names = Object.entries(others).flatMap(([name, value]) => (value === undefined ? [] : `--${name}`));
  if (names.length > 0) throw new Error(`${option} ${does}: leave out ${names.join(', ')}`);
}

function readPayload(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Error(`${file} cannot be read`, { cause });
  }
  if (parsedJson(text) === undefined) throw new Error(`${file} is not JSON`);
  return text;
}

async function whereTo({ url, wait }: SendOptions, open: OpenTarget): Promise<Receiver> {
  const secret = process.env.GITHUB_WEBHOOK_SECRET;
  refuseToWaitFor(url, wait);
  if (url) {
    if (secret) return { url, secret };
    throw new Error('set GITHUB_WEBHOOK_SECRET to the secret of that webhook');
  }
  const target = await open();
  const { webhookSecret } = await target.stores.secrets.current('github-webhook', githubWebhookSecret);
  return { url: target.githubWebhookUrl, secret: webhookSecret, target };
}

const numbered = z.optional(z.object({ number: z.number() }));
const subject = z.object({ repository: z.object({ full_name: z.string() }), issue: numbered, pull_request: numbered });

/** The issue or pull request of a payload: `acme/web#42`. */
function subjectOf(body: string): string | undefined {
  const { data } = subject.safeParse(parsedJson(body));
  const number = (data?.issue ?? data?.pull_request)?.number;
  return number === undefined ? undefined : `${data?.repository.full_name}#${number}`;
}

function collected(label: string, before: string[] = []): string[] {
  return [...before, label];
}
