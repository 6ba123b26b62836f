import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createBudget } from '../lib/budget/budget.ts';
import { lanes } from '../lib/budget/lanes.ts';
import { linksAccounts } from '../lib/config/links-accounts.ts';
import type { RelayConfig, SlackConfig } from '../lib/config/schema.ts';
import { createBreakers } from '../lib/connection/breakers.ts';
import { LONGEST_SLEEP_MS } from '../lib/jobs/queue.ts';
import { requeueJobs } from '../lib/jobs/sweep.ts';
import { createWaitingLines } from '../lib/jobs/waiting-line.ts';
import { localClock } from '../lib/local-time.ts';
import { createMetrics } from '../lib/metrics/metrics.ts';
import { partnerRoot } from '../lib/partner/base-url.ts';
import { openStores, type Runtime, type Stores, systemRuntime } from '../lib/runtime.ts';
import { slackSigningSecret } from '../lib/secrets/secrets.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';
import { controlRoutes } from './control-routes.ts';
import { createCrowd } from './crowd.ts';
import { asSqsHandler, startEventSource } from './event-source.ts';
import { keptGrantsKey } from './grants-key.ts';
import { asHttpHandler, startHttpFront } from './http-front.ts';
import { keepingDeliveries } from './kept-deliveries.ts';
import { keptPort } from './kept-port.ts';
import { type PartnerVariables, partnerFromEnvironment } from './partner-variables.ts';
import { createLocalSchedules, loadSchedules } from './schedules.ts';
import { type SlackStandIn, startSlackStandIn } from './slack/stand-in.ts';
import { startSlackSocket } from './slack-socket.ts';
import { type LocalStack, startLocalStack } from './stack.ts';
import { findRunning, keepToOwner, noteRunning, noteStopped, STATE_FOLDER } from './state.ts';
import { startStory } from './story.ts';
import { printable } from './terminal.ts';
import { trustCaFile } from './trust.ts';

const DEFAULT_PORT = 8787;
const WORKER_TIMEOUT_MS = 60_000;
/** The interval for jobs in a waiting line. */
const COUNTED_UP_TO = 10_000;

/**
 * Runs the unchanged functions on this machine until the process gets a stop signal.
 *
 * @throws {Error} if the start fails; the message tells the person who started it what is wrong
 */
async function start(): Promise<void> {
  // For all files that this process and the database process write.
  process.umask(0o077);
  const running = await findRunning();
  if (running) throw new Error(`Partner Relay is already running here, at ${running.url}`);
  const port = readPort(process.env.PORT);
  const real = partnerFromEnvironment(process.env);
  const { default: config } = await import('../relay.config.ts');
  trustCaFile(config);

  const folder = stateFolder(real);
  mkdirSync(folder, { recursive: true });
  chmodSync(STATE_FOLDER, 0o700);
  keepToOwner(folder);
  let poll = () => {};
  const stack = await startLocalStack({ tablePath: join(folder, 'dynamodb'), queueChanged: () => poll() });
  const key = stack.variables.AWS_ACCESS_KEY_ID;
  const dataFile = join(folder, 'sandbox.jsonl');
  const sandboxPort = await keptPort(folder, 'sandbox');
  const sandbox = real
    ? undefined
    : await startSandbox({ dataFile, controlKey: key, port: sandboxPort.port, mcp: { enabled: true } });
  if (sandbox) sandboxPort.keep(sandbox.url);
  const partner = real ?? ofSandbox(sandbox);
  const webhookSecret = enterSecrets(stack, config, partner);
  stack.secrets.put(`${stack.secretPrefix}grants`, { key: keptGrantsKey(folder) });
  const slack = config.slack && (await enterSlack(stack, config, folder));

  // From here on, the functions' AWS SDK uses the local stack.
  Object.assign(process.env, stack.variables);
  const story = startStory(join(folder, 'functions.log'), (line) => console.log(line));
  const metrics = createMetrics('local', story.writeLine, Date.now);
  const runtime = { ...systemRuntime(withSlackAt(slack, config), process.env), log: story.log, metrics };
  const [webhook, slackWebhook, accountLink, worker, scheduled] = await Promise.all([
    import('../functions/github-webhook.ts'),
    import('../functions/slack-webhook.ts'),
    import('../functions/account-link.ts'),
    import('../functions/job-worker.ts'),
    loadSchedules(runtime),
  ]);
  const webhooks = createCrowd(
    () => performance.now(),
    () => poll(),
  );
  const source = startEventSource(stack.queues, asSqsHandler(worker.createHandler(runtime)), {
    maxConcurrency: webhooks.maxConcurrency,
    timeoutMs: WORKER_TIMEOUT_MS,
    failed: (error) => story.log.error({ message: 'the worker failed', error: String(error) }),
  });
  const takeGithub = keepingDeliveries(webhooks.counted(asHttpHandler(webhook.createHandler(runtime))), (error) =>
    story.log.warn({ message: 'a delivery was not kept for send --again', error: String(error) }),
  );
  const takeSlack = webhooks.counted(asHttpHandler(slackWebhook.createHandler(runtime)));
  const pages = asHttpHandler(accountLink.createHandler(runtime));
  const schedules = createLocalSchedules(scheduled, {
    clock: Date.now,
    failed: (slug, error) => story.log.error({ message: `${slug} failed`, error: String(error) }),
  });
  const front = await startHttpFront(
    port,
    {
      'POST /github': takeGithub,
      ...(slack && { 'POST /slack/commands': takeSlack, 'POST /slack/interactions': takeSlack }),
      ...(linksAccounts(config) && {
        'GET /link/start': pages,
        'POST /link/start': pages,
        'GET /link/callback': pages,
      }),
      ...controlRoutes(schedules, key),
    },
    (error) => story.log.error({ message: 'a request failed', error: String(error) }),
  ).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRINUSE' ? new Error(`Port ${port} is taken; set PORT to another.`) : error;
  });

  const stores = openStores(runtime);
  const unfinished = await takeUp(stores, config);
  const url = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  // Known only now: the port may be any.
  runtime.environment.ACCOUNT_LINK_URL = `${url}/link`;
  noteRunning({ url, slackStandIn: slack?.standIn?.url, sandbox: sandbox?.url, variables: stack.variables });
  console.log(banner({ url, webhookSecret, slack, partner, sandbox, folder, unfinished }));
  poll = source.poll;
  poll();
  schedules.start();
  const { SLACK_APP_TOKEN: appToken } = process.env;
  const socket = appToken && config.slack ? openSocket(appToken, config.slack, url, stores, story.log) : undefined;

  const stop = async () => {
    noteStopped();
    front.close();
    front.closeAllConnections();
    await Promise.all([schedules.stop(), source.stop(), socket?.close()]);
    await Promise.all([stack.close(), sandbox?.close(), slack?.standIn?.close(), story.close()]);
    process.exit(0);
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

/** Slack's commands and interactions by Socket Mode, because Slack cannot reach this machine. */
function openSocket(appToken: string, slack: SlackConfig, url: string, stores: Stores, log: Runtime['log']) {
  return startSlackSocket({
    ...{ apiUrl: slack.apiUrl, appToken },
    signingSecret: async () => (await stores.secrets.current('slack', slackSigningSecret)).signingSecret,
    async hand(path, request) {
      const response = await fetch(`${url}${path}`, { method: 'POST', ...request });
      return { status: response.status, body: await response.text() };
    },
    connected: () => console.log(`${localClock(Date.now())}  ● Slack is connected by Socket Mode`),
    failed: (error) =>
      log.warn({ message: 'Socket Mode', error: String(error instanceof Error ? error.message : error) }),
  });
}

/** Jobs and links belong to one instance, so each instance has its own folder. */
function stateFolder(real: PartnerVariables | undefined): string {
  return join(
    STATE_FOLDER,
    real
      ? partnerRoot(real.baseUrl, real)
          .replace(/^https?:\/\//, '')
          .replaceAll(/[^\w.-]+/g, '-')
      : 'sandbox',
  );
}

function readPort(text: string | undefined): number {
  if (!text) return DEFAULT_PORT;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new Error(`PORT is '${text}'; expected a number from 0 to 65535`);
}

function ofSandbox(sandbox: Sandbox | undefined): PartnerVariables {
  const [key] = sandbox?.keys ?? [];
  if (!sandbox || !key) throw new Error('the sandbox has no key');
  return { baseUrl: sandbox.url, apiKey: key.apiKey, secretKey: key.secretKey };
}

/** @returns the webhook secret */
function enterSecrets(stack: LocalStack, config: RelayConfig, partner: PartnerVariables): string {
  for (const connection of Object.keys(config.connections)) {
    stack.secrets.put(`${stack.secretPrefix}partner/${connection}`, partner);
  }
  const webhookSecret = process.env.GITHUB_WEBHOOK_SECRET || randomBytes(20).toString('hex');
  const token = process.env.GITHUB_TOKEN;
  stack.secrets.put(`${stack.secretPrefix}github-webhook`, { webhookSecret });
  stack.secrets.put(`${stack.secretPrefix}github`, { ...(token && { token }) });
  return webhookSecret;
}

interface LocalSlack {
  signingSecret: string;
  /** The stand-in that keeps the messages if there is no token. */
  standIn?: SlackStandIn;
}

/** Slack itself with `SLACK_BOT_TOKEN`, otherwise a stand-in that keeps sent messages. */
async function enterSlack(stack: LocalStack, config: RelayConfig, folder: string): Promise<LocalSlack> {
  const signingSecret = process.env.SLACK_SIGNING_SECRET || randomBytes(16).toString('hex');
  const ownToken = process.env.SLACK_BOT_TOKEN;
  if (process.env.SLACK_APP_TOKEN && !ownToken) {
    throw new Error('SLACK_APP_TOKEN is set without SLACK_BOT_TOKEN: set both, because answers need the bot token');
  }
  const botToken = ownToken || `xoxb-${randomBytes(12).toString('hex')}`;
  stack.secrets.put(`${stack.secretPrefix}slack`, { signingSecret, botToken });
  if (ownToken) return { signingSecret };
  const { port, keep } = await keptPort(folder, 'slack');
  const standIn = await startSlackStandIn({
    clock: Date.now,
    botToken,
    port,
    controlKey: stack.variables.AWS_ACCESS_KEY_ID,
  });
  keep(standIn.url);
  for (const id of configuredChannels(config)) {
    if (!standIn.channels.has(id)) standIn.channels.set(id, { id, name: id.toLowerCase(), botIsMember: true });
  }
  return { signingSecret, standIn };
}

function configuredChannels({ slack, timesheets, contactChannel }: RelayConfig): string[] {
  const summaries = (timesheets?.teams ?? []).flatMap(({ summary }) => summary?.channel ?? []);
  return [...Object.keys(slack?.channels ?? {}), ...summaries, ...(contactChannel ? [contactChannel] : [])];
}

/** A dry run protects people from messages. The stand-in has no people, so it gets the messages. */
function withSlackAt(slack: LocalSlack | undefined, config: RelayConfig): RelayConfig {
  if (!slack?.standIn || !config.slack) return config;
  return {
    ...config,
    slack: { ...config.slack, apiUrl: `${slack.standIn.url}/api` },
    ...(config.timesheets && { timesheets: { ...config.timesheets, dryRun: false } }),
  };
}

/**
 * Queues jobs that were under way when the last process ended, because its queue and leases are gone.
 * @returns the number of jobs that continue
 */
async function takeUp(stores: Stores, config: RelayConfig): Promise<number> {
  const by = {
    running: Number.MAX_SAFE_INTEGER,
    waiting: Date.now() + LONGEST_SLEEP_MS,
    // Last in order, after the jobs that this function queues itself.
    queued: Number.MAX_SAFE_INTEGER,
  };
  const unfinished = new Set<string>();
  for (const status of ['running', 'waiting', 'queued'] as const) {
    const hasConnection = (name: string) => name in config.connections;
    for (const { id } of await requeueJobs(status, by[status], { ...stores, hasConnection })) unfinished.add(id);
  }
  const { table, jobs } = stores;
  const budget = createBudget(table, Date.now);
  const lines = createWaitingLines({
    ...stores,
    budget,
    breakers: createBreakers({ table, clock: Date.now, random: Math.random }),
    clock: Date.now,
  });
  for (const [name, { limits }] of Object.entries(config.connections)) {
    for (const lane of lanes) for (const { id } of await jobs.line(name, lane, COUNTED_UP_TO)) unfinished.add(id);
    await lines.moveOn({ name, limits }, true);
  }
  return unfinished.size;
}

interface BannerFacts {
  url: string;
  webhookSecret: string;
  slack: LocalSlack | undefined;
  partner: PartnerVariables;
  sandbox: Sandbox | undefined;
  folder: string;
  unfinished: number;
}

function banner({ url, webhookSecret, slack, partner, sandbox, folder, unfinished }: BannerFacts): string {
  const given = (name: string, value: string) => (process.env[name] ? `that of ${name}` : value);
  return `
Partner Relay runs on this machine${sandbox ? ', with a sandbox in place of the service' : ''}.

  webhook      ${url}/github
  secret       ${given('GITHUB_WEBHOOK_SECRET', webhookSecret)}
${slack ? slackLines(url, slack) : ''}  service      ${partner.baseUrl}${sandbox ? ' (the sandbox)' : ''}
  API key      ${partner.apiKey}
  secret key   ${given('PARTNER_SECRET_KEY', partner.secretKey)}
  comments     ${given('GITHUB_TOKEN', 'off; set GITHUB_TOKEN to turn them on')}
  state        ${folder}/${unfinished > 0 ? `, with ${unfinished} unfinished jobs that continue now` : ''}

${sandbox ? faultsHint(sandbox) : ''}Send it a new issue of GitHub's example repository, from another terminal in this folder${slack ? ', or a command as from Slack' : ''}:

  npm run -s relay -- send issues
${slack ? SLACK_HINT : ''}${sandbox ? SANDBOX_HINT : ''}`;
}

const SLACK_HINT = `  npm run -s relay -- send slack '/pm log 1h30m "Login with passkeys" wrote tests'
`;

const SANDBOX_HINT = `
The ids of the sandbox's checklist items, and a comment that completes one:

  npm run -s relay -- sandbox items
  npm run -s relay -- send --body '/done 101'
`;

function slackLines(url: string, { signingSecret, standIn }: LocalSlack): string {
  const secret = process.env.SLACK_SIGNING_SECRET ? 'that of SLACK_SIGNING_SECRET' : signingSecret;
  const messages = standIn ? 'kept; npm run -s relay -- messages shows them' : 'sent to Slack';
  return `  Slack        ${url}/slack/commands and /slack/interactions
  its secret   ${secret}
  messages     ${messages}
`;
}

function faultsHint({ url, controlKey }: Sandbox): string {
  return `Break something: the answer of the next creation gets lost, although the defect is made.

  curl ${url}/sandbox/faults -H 'authorization: Bearer ${controlKey}' \\
    -d '{"kind":"cut","when":"after work","operation":"/defects/create","times":1}'

`;
}

start().catch((error: unknown) => {
  console.error(printable(error instanceof Error ? error.message : String(error)));
  process.exit(1);
});
