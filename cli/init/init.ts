import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readCustomAutomations } from '../../lib/automations/custom/folder.ts';
import { ConfigFileError, configFile, loadConfig } from '../../lib/config/config-file.ts';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { takenEvents } from '../../lib/platforms/github/delivery.ts';
import { readKeptSecrets } from '../../local/kept-secrets.ts';
import { writeOwnFile } from '../../local/own-file.ts';
import { partnersOf } from '../../local/partners.ts';
import { STATE_FOLDER } from '../../local/state.ts';
import { ask, withHiddenInput } from '../ask.ts';
import type { Define } from '../cli.ts';
import { connectionOf } from '../connection-of.ts';
import { examine, tellFindings } from '../doctor/doctor.ts';
import { openBrowser } from '../open-browser.ts';
import { publicWebhookUrl, type Sender } from '../public-url.ts';
import { openSecretStore } from '../secret-store.ts';
import { NoRelay, openTarget } from '../target.ts';
import {
  askForGithubApp,
  askForPartner,
  askForSettings,
  askForUrl,
  confirm,
  type InitOptions,
  type Terminal,
} from './answers.ts';
import { type FirstSettings, firstConfig, firstTests } from './config-text.ts';
import { createGithubApp, type GithubAppToCreate } from './create-github-app.ts';
import { enterSlackApp } from './enter-slack-app.ts';
import { completeFolder } from './team-folder.ts';

interface AllOptions extends InitOptions {
  overwrite?: boolean;
  keep?: boolean;
  org?: string;
  appName: string;
  github: string;
  githubApi?: string;
  slackApi: string;
  browser: boolean;
}

const GITHUB = 'https://github.com';
const SLACK_API = 'https://slack.com/api';

/** `init`: creates a configuration with its secrets, a GitHub App and a Slack app. */
export const define: Define = (command, { stage }) =>
  command
    .option('--repo <owner/name>', 'the repository on GitHub')
    .option('--label <label...>', 'the labels of issues that become defects')
    .option('--project <id>', 'the project of the service that the defects belong to')
    .option('--slack', 'use Slack')
    .option('--no-slack', 'do not use Slack')
    .option('--github-app', 'create a GitHub App')
    .option('--no-github-app', 'do not create a GitHub App')
    .option('--url <url>', 'the public base address of the relay; by default that of the --stage')
    .option('--org <organization>', 'the organization that owns the GitHub App, instead of you')
    .option('--app-name <name>', 'the name of both apps, unique on GitHub', 'Partner Relay')
    .option('--overwrite', 'replace relay.config.ts and its tests; the old ones are kept in .relay/')
    .option('--keep', 'leave relay.config.ts as it is, and do the rest')
    .option('--no-browser', 'print the address of the page for the GitHub App, and open no browser')
    .option('--github <url>', 'the URL of a GitHub Enterprise Server', GITHUB)
    .option('--github-api <url>', 'its API; by default below that URL')
    .option('--slack-api <url>', 'the Web API of GovSlack', SLACK_API)
    .addHelpText(
      'after',
      `
It also writes what is missing of: tests of the configuration, package.json, tsconfig.json and .gitignore.

At a terminal, the command asks for what you do not name. Without a terminal, --repo is required; with an instance of the
service, --project, too. Secrets are never options: set PARTNER_BASE_URL, PARTNER_API_KEY and PARTNER_SECRET_KEY for an instance, and
for Slack SLACK_CONFIG_TOKEN (an app configuration token, which lets the command create the app), or
SLACK_SIGNING_SECRET and SLACK_BOT_TOKEN of an app that exists. Without PARTNER_… the sandbox is used.

  npx partner-relay init
  npx partner-relay init --repo acme/web --no-slack --no-github-app --overwrite`,
    )
    .action(async (options: AllOptions) => {
      const { isTTY } = process.stdin;
      await init(options, stage(), isTTY ? terminal : undefined);
    });

const tell = (line: string) => console.error(line);

const terminal: Terminal = {
  ask,
  askHidden: (question) => withHiddenInput((ask) => ask(question)),
  tell,
};

async function init(options: AllOptions, stage: string | undefined, terminal: Terminal | undefined): Promise<void> {
  const file = configFile();
  const kept = (await keepsConfig(file, options, terminal)) ? await loadConfig(file) : undefined;
  const hasOneConnection = !kept || Object.keys(kept.connections).length === 1;
  const partner = hasOneConnection ? await askForPartner(terminal, process.env) : undefined;
  const config = kept ?? (await writeConfig(file, await askForSettings(options, terminal, partner), options));
  const { custom } = await readCustomAutomations(config);
  const usesSandbox = stage === undefined && hasOneConnection && !partner;
  const withGithubApp = await askForGithubApp(options, terminal, usesSandbox);
  const needsUrl = stage === undefined && (withGithubApp || config.slack !== undefined);
  const base = needsUrl ? await askForUrl(options, terminal) : options.url;
  const urlFor = async (sender: Sender) =>
    needsUrl && base === undefined ? undefined : publicWebhookUrl(sender, base, () => openTarget(stage));

  const store = openSecretStore(stage);
  if (partner) await store.put(`partner/${connectionOf(config, undefined)}`, { ...partner });
  const { appName: name, slackApi: apiUrl } = options;
  const steps = [
    ...(hasOneConnection ? [] : ['enter the secret of each connection: npx partner-relay secrets set partner/<name>']),
    ...(withGithubApp
      ? await enterGithubApp(options, { store, stage, webhookUrl: await urlFor('GitHub'), events: takenEvents(custom) })
      : []),
    ...(config.slack
      ? await enterSlackApp({
          config,
          name,
          apiUrl,
          url: await urlFor('Slack'),
          store,
          terminal,
          variables: process.env,
          tell,
        })
      : []),
  ];
  await check(config, stage);
  steps.push(
    stage === undefined
      ? 'start the relay (if it runs, stop it first): npx partner-relay start'
      : `deploy: npx partner-relay deploy --stage ${stage}`,
  );
  console.log(`\nNext:\n${steps.map((step) => `  - ${step}`).join('\n')}`);
}

/** Creates the GitHub App. @returns the remaining steps for a person */
async function enterGithubApp(
  options: AllOptions,
  app: Pick<GithubAppToCreate, 'store' | 'stage' | 'webhookUrl' | 'events'>,
): Promise<string[]> {
  const install = await createGithubApp({
    ...app,
    name: options.appName,
    organization: options.org,
    github: options.github,
    apiUrl: githubApiOf(options),
    openPage: (url) => {
      tell(`Confirm the GitHub App in your browser:\n\n  ${url}\n`);
      // The address is printed, too, for a machine without a browser.
      if (options.browser) openBrowser(url, () => {});
    },
  });
  const toInstall = `install the GitHub App on your repositories: ${install}`;
  if (app.webhookUrl !== undefined) return [toInstall];
  return [toInstall, 'the webhook of the App is off: enter its address at GitHub when the relay has a public one'];
}

/** Whether to keep an existing configuration. @throws {Error} if neither an option nor an answer says so */
async function keepsConfig(file: string, options: AllOptions, terminal: Terminal | undefined): Promise<boolean> {
  if (options.keep) return true;
  if (file.endsWith('.json'))
    throw new Error(`${file} is JSON, and init writes TypeScript: name a file that ends in .ts, or use --keep`);
  if (!existsSync(file) || options.overwrite) return false;
  if (!terminal) {
    throw new Error(`${file} exists: use --overwrite to replace it, or --keep to leave it as it is and do the rest`);
  }
  if (await confirm(terminal, `${file} exists. Replace it?`, false)) return false;
  throw new Error(`${file} is left as it is; to do the rest with it, run npx partner-relay init --keep`);
}

/**
 * Writes the configuration, if it is valid.
 *
 * @throws {ConfigError} with every fault; then nothing is replaced
 */
async function writeConfig(file: string, settings: FirstSettings, options: AllOptions): Promise<RelayConfig> {
  const githubApiUrl = options.github === GITHUB && !options.githubApi ? undefined : githubApiOf(options);
  const slackApiUrl = options.slackApi === SLACK_API ? undefined : options.slackApi;
  // In the same folder, for its import. The extension makes it an ES module, whatever package.json says.
  const draft = `${file}.new.mts`;
  writeFileSync(draft, firstConfig({ ...settings, githubApiUrl, slackApiUrl }));
  try {
    const config = await loadConfig(draft);
    const folder = dirname(file);
    const tests = join(folder, 'relay.config.test.ts');
    if (existsSync(file)) {
      keepOld(file);
      // The old tests do not fit the new configuration.
      if (existsSync(tests)) keepOld(tests);
      rmSync(tests, { force: true });
    }
    renameSync(draft, file);
    tell(`${file} is written.`);
    completeFolder(folder, firstTests(settings), tell);
    return config;
  } catch (error) {
    if (!(error instanceof ConfigFileError)) throw error;
    // The faults are in what was asked for, and not in the draft, which imports nothing else.
    if (!error.message.includes("Cannot find package 'partner-relay'")) throw error.cause ?? error;
    throw new Error(
      `partner-relay is not installed in ${dirname(file)}: make the package in a checkout with npm run pack, and run npm install <its .tgz file> there`,
      { cause: error },
    );
  } finally {
    rmSync(draft, { force: true });
  }
}

function keepOld(file: string): void {
  const oldOf = (times: number): string => {
    const old = join(STATE_FOLDER, `${basename(file, '.ts')}.old${times > 1 ? `-${times}` : ''}.ts`);
    return existsSync(old) ? oldOf(times + 1) : old;
  };
  const old = oldOf(1);
  writeOwnFile(old, readFileSync(file, 'utf8'));
  tell(`The old ${basename(file)} is kept in ${old}.`);
}

function githubApiOf({ github, githubApi }: AllOptions): string {
  return githubApi ?? (github === GITHUB ? 'https://api.github.com' : `${github}/api/v3`);
}

/** Checks as `doctor` does. Without a relay and without an instance, there is nothing to check yet. */
async function check(config: RelayConfig, stage: string | undefined): Promise<void> {
  const partners = partnersOf(Object.keys(config.connections), readKeptSecrets(), process.env);
  if (stage === undefined && !partners) {
    console.log(
      'The configuration is valid. While the relay runs, npx partner-relay doctor checks the credentials and the service.',
    );
    return;
  }
  // A relay that already runs here does not have the new secrets yet.
  const open = () => (stage === undefined ? Promise.reject(new NoRelay()) : openTarget(stage));
  tellFindings(await examine(config, open, tell));
}
