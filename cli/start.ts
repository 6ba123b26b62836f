import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, statSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createLoggedChanges, watchedLog } from '../console/log-changes.ts';
import { createConsole } from '../console/server.ts';
import { createTry } from '../console/try/try.ts';
import { linksAccounts } from '../lib/config/links-accounts.ts';
import type { RelayConfig, SlackConfig } from '../lib/config/schema.ts';
import { LONGEST_SLEEP_MS } from '../lib/engine/line/queue.ts';
import { requeueJobs } from '../lib/engine/line/sweep.ts';
import { createWaitingLines } from '../lib/engine/line/waiting-line.ts';
import { localClock } from '../lib/local-time.ts';
import { openStores, type Runtime, type Stores, systemRuntime } from '../lib/runtime.ts';
import { createBudget } from '../lib/service/budget/budget.ts';
import { lanes } from '../lib/service/budget/lanes.ts';
import { createBreakers } from '../lib/service/connection/breakers.ts';
import { createMetrics } from '../lib/state/metrics/metrics.ts';
import { instanceSecret, slackSigningSecret } from '../lib/state/secrets/secrets.ts';
import { banner } from '../local/banner.ts';
import { loadConfigAndFiles } from '../local/config-files.ts';
import { watchConfig } from '../local/config-watch.ts';
import { controlRoutes } from '../local/control-routes.ts';
import { createCrowd } from '../local/crowd.ts';
import { asSqsHandler, startEventSource } from '../local/event-source.ts';
import { asHttpHandler, startHttpFront } from '../local/http-front.ts';
import { type Instances, startSandboxFor, stateFolder } from '../local/instances.ts';
import { keepingDeliveries } from '../local/kept-deliveries.ts';
import { keptKey } from '../local/kept-key.ts';
import { readKeptSecrets } from '../local/kept-secrets.ts';
import { linkRoutes } from '../local/link-routes.ts';
import { enterSlack, withSlackAt } from '../local/local-slack.ts';
import { partnersOf } from '../local/partners.ts';
import { createLocalSchedules, loadSchedules } from '../local/schedules.ts';
import { githubOf, githubWebhookOf } from '../local/secrets.ts';
import { startSlackSocket } from '../local/slack-socket.ts';
import { startLocalStack } from '../local/stack.ts';
import { readStartArguments } from '../local/start-arguments.ts';
import { findRunning, noteRunning, noteStopped, STATE_FOLDER } from '../local/state.ts';
import { startStory } from '../local/story.ts';
import { printable } from '../local/terminal.ts';
import { trustCaFile } from '../local/trust.ts';
import { userName } from '../local/user-name.ts';

const DEFAULT_PORT = 8787;
const WORKER_TIMEOUT_MS = 60_000;
/** More unfinished jobs are not counted at the start. */
const COUNTED_UP_TO = 10_000;
const GRANTS_TODO = 'restore it, or remove it: then people link their accounts again';
const INTAKE_TODO = 'restore it, or remove it: then jobs that wait do not act through linked accounts any more';
const MARKERS_TODO = 'restore it, or remove it: then the relay does not recognize what it created before';

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
  const { config, fault, files } = await loadConfigAndFiles();
  if (!config) throw new Error(fault);
  trustCaFile(config);
  const kept = readKeptSecrets();
  const connections = Object.keys(config.connections);
  const real = partnersOf(connections, kept, process.env);

  const folder = stateFolder(real);
  mkdirSync(folder, { recursive: true });
  chmodSync(STATE_FOLDER, 0o700);
  let poll = () => {};
  const stack = await startLocalStack({ tablePath: join(folder, 'dynamodb'), queueChanged: () => poll() });
  const key = stack.variables.AWS_ACCESS_KEY_ID;
  const { partners, sandbox }: Instances = real ? { partners: real } : await startSandboxFor(connections, folder, key);
  const webhook = githubWebhookOf(kept, process.env);
  const github = githubOf(kept, process.env);
  const enter = (name: string, secret: object, createdAt?: number) =>
    stack.secrets.put(stack.secretPrefix + name, secret, createdAt);
  for (const [name, partner] of partners) {
    enter(`partner/${name}`, partner);
    enter(`instance/${name}`, instanceSecret.parse(partner));
  }
  enter('github-webhook', webhook.value);
  enter('github', github?.value ?? {});
  enter('grants', kept.get('grants') ?? { key: keptKey(join(folder, 'grants.key'), GRANTS_TODO) });
  enter('intake', kept.get('intake') ?? { key: keptKey(join(folder, 'intake.key'), INTAKE_TODO) });
  const markersKey = join(folder, 'markers.key');
  const ownMarkers = { key: keptKey(markersKey, MARKERS_TODO) };
  enter('markers', kept.get('markers') ?? ownMarkers, statSync(markersKey).mtimeMs);
  const slack = config.slack && (await enterSlack(stack, config, folder, kept));

  // From here on, the functions' AWS SDK uses the local stack.
  Object.assign(process.env, stack.variables);
  const logFile = join(folder, 'functions.log');
  const story = startStory(logFile, (line) => console.log(line));
  const stopWatching = watchConfig(config, files, story.tell);
  const metrics = createMetrics('local', story.writeLine, Date.now);
  const changes = createLoggedChanges();
  const log = watchedLog(story.log, changes.saw);
  const runtime = { ...systemRuntime(withSlackAt(slack, config), process.env), log, metrics };
  const [githubWebhook, slackWebhook, accountLink, worker, scheduled] = await Promise.all([
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
  const takeGithub = keepingDeliveries(webhooks.counted(asHttpHandler(githubWebhook.createHandler(runtime))), (error) =>
    story.log.warn({ message: 'a delivery was not kept for send --again', error: String(error) }),
  );
  const takeSlack = webhooks.counted(asHttpHandler(slackWebhook.createHandler(runtime)));
  const pages = asHttpHandler(accountLink.createHandler(runtime));
  const schedules = createLocalSchedules(scheduled, {
    clock: Date.now,
    failed: (slug, error) => story.log.error({ message: `${slug} failed`, error: String(error) }),
  });
  const requestFailed = (error: unknown) => story.log.error({ message: 'a request failed', error: String(error) });
  const webhookSecret = { value: webhook.value.webhookSecret, from: webhook.from };
  // New with each start: whatever takes the port later gets the one of an open tab, which is good for nothing then.
  const token = randomBytes(32).toString('base64url');
  const stores = openStores(runtime);
  let url = '';
  const consoleOfRelay = createConsole({
    name: 'this machine',
    operate: true,
    operator: userName(),
    runtime,
    stores,
    changes,
    token,
    failed: requestFailed,
    try: createTry({
      clock: Date.now,
      addresses: () => addressesBelow(url),
      sandbox,
      webhookSecret: webhookSecret.value,
      slack: slack && { ...slack, signingSecret: slack.signingSecret.value },
    }),
  });
  const front = await startHttpFront(
    port,
    {
      'POST /github': takeGithub,
      ...(slack && {
        'POST /slack': takeSlack,
        'POST /slack/commands': takeSlack,
        'POST /slack/interactions': takeSlack,
      }),
      ...(linksAccounts(config) && linkRoutes(pages, config.connections)),
      ...controlRoutes(schedules, key),
    },
    requestFailed,
    consoleOfRelay,
  ).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRINUSE' ? new Error(`Port ${port} is taken; set PORT to another.`) : error;
  });

  const unfinished = await takeUp(stores, config);
  url = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  // Known only now: the port may be any.
  runtime.environment.ACCOUNT_LINK_URL = `${url}/link`;
  const consoleUrl = `${url}/#token=${token}`;
  const noted = { url, slackStandIn: slack?.standIn?.url, sandbox: sandbox?.url, logFile, console: consoleUrl };
  noteRunning({ ...noted, variables: stack.variables });
  const repositories = config.github.repositories.map(({ name }) => name);
  const facts = {
    url,
    consoleUrl,
    webhookSecret,
    commentsFrom: github?.from,
    slack,
    partners,
    sandbox,
    folder,
    repositories,
  };
  console.log(banner({ ...facts, unfinished }));
  poll = source.poll;
  poll();
  schedules.start();
  const { SLACK_APP_TOKEN: appToken } = process.env;
  const socket = appToken && config.slack ? openSocket(appToken, config.slack, url, stores, story.log) : undefined;

  const stop = async () => {
    noteStopped();
    stopWatching();
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
    apiUrl: slack.apiUrl,
    appToken,
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

function readPort(text: string | undefined): number {
  if (!text) return DEFAULT_PORT;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new Error(`PORT is '${text}'; expected a number from 0 to 65535`);
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
  const { table, jobs } = stores;
  const budget = createBudget({ table });
  const lines = createWaitingLines({
    ...stores,
    budget,
    breakers: createBreakers({ table, clock: Date.now, random: Math.random }),
    clock: Date.now,
  });
  const isCalled = async ({ connection, line }: { connection: string; line: string }) =>
    connection in config.connections && lines.advances(line, connection);
  const unfinished = new Set<string>();
  for (const status of ['running', 'waiting', 'queued'] as const) {
    for (const { id } of await requeueJobs(status, by[status], { ...stores, isCalled })) unfinished.add(id);
  }
  for (const [name, { limits }] of Object.entries(config.connections)) {
    for (const lane of lanes) for (const { id } of await jobs.line(name, lane, COUNTED_UP_TO)) unfinished.add(id);
    await lines.moveOn({ name, limits }, true);
  }
  return unfinished.size;
}

/** Where the front takes requests of GitHub and Slack. */
const addressesBelow = (url: string) => ({
  github: `${url}/github`,
  commands: `${url}/slack/commands`,
  interactions: `${url}/slack/interactions`,
});

readStartArguments(process.argv.slice(2));
start().catch((error: unknown) => {
  console.error(printable(error instanceof Error ? error.message : String(error)));
  process.exit(1);
});
