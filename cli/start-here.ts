import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createLoggedChanges, watchedLog } from '../console/log-changes.ts';
import { createConsole } from '../console/server.ts';
import { createTry } from '../console/try/try.ts';
import type { RelayConfig, SlackConfig } from '../lib/config/schema.ts';
import { linksAccounts } from '../lib/config/settings.ts';
import { localClock } from '../lib/dates.ts';
import { openStores, type Runtime, type Stores, systemRuntime } from '../lib/runtime.ts';
import { createMetrics } from '../lib/state/metrics/metrics.ts';
import { slackSigningSecret } from '../lib/state/secrets/secrets.ts';
import { messageOf } from '../lib/text.ts';
import { type BannerFacts, banner } from '../local/banner.ts';
import { loadConfigAndFiles } from '../local/config-files.ts';
import { watchConfig } from '../local/config-watch.ts';
import { controlRoutes } from '../local/control-routes.ts';
import { customLines, watchCustom } from '../local/custom-watch.ts';
import { enterSecrets } from '../local/enter-secrets.ts';
import { type LocalFunctions, startLocalFunctions } from '../local/functions.ts';
import { remembering } from '../local/github/remember.ts';
import { watchGiven } from '../local/given.ts';
import { createHalt, DISK_FULL, isDiskFull } from '../local/halt.ts';
import { watchHookSecrets } from '../local/hook-secrets-watch.ts';
import { type HttpHandler, startHttpFront } from '../local/http-front.ts';
import { type Instances, startSandboxFor, stateFolder } from '../local/instances.ts';
import { readKeptSecrets } from '../local/kept-secrets.ts';
import { keepVersion } from '../local/kept-version.ts';
import { linkRoutes } from '../local/link-routes.ts';
import { commentsInWords, enterGithubStandIn, usesGithubCom, withGithubAt } from '../local/local-github.ts';
import { enterSlack, withSlackAt } from '../local/local-slack.ts';
import { partnersOf } from '../local/partners.ts';
import { startSlackSocket } from '../local/slack-socket.ts';
import { startLocalStack } from '../local/stack.ts';
import { findRunning, isNotedAsRunning, noteRunning, noteStopped, STATE_FOLDER } from '../local/state.ts';
import { startStory } from '../local/story.ts';
import { takeUp } from '../local/take-up.ts';
import { printable } from '../local/terminal.ts';
import { trustCaFile } from '../local/trust.ts';
import { userName } from '../local/user-name.ts';
import { readCustomFolder } from './custom-folder.ts';
import { useProxy } from './use-proxy.ts';

const DEFAULT_PORT = 8787;

type StartOptions = Pick<BannerFacts, 'verbose'>;

/**
 * Runs the unchanged functions on this machine until the process gets a stop signal. If the start fails, the process
 * ends.
 */
export const startHere = (options: StartOptions): Promise<void> => start(options).catch(endWith);

/** @throws {Error} that tells the person what is wrong */
async function start({ verbose }: StartOptions): Promise<void> {
  // Only the owner may read the files that this process and the database process write.
  process.umask(0o077);
  useProxy();
  const running = await findRunning();
  if (running)
    throw new Error(`Partner Relay is already running here, at ${running.url}; to start it again, stop it first`);
  const port = readPort(process.env.PORT);
  const { config, fault, files } = await loadConfigAndFiles();
  if (!config) throw new Error(fault);
  trustCaFile(config);
  const own = await readCustomFolder(config);
  const kept = readKeptSecrets();
  const connections = Object.keys(config.connections);
  const real = partnersOf(connections, kept, process.env);

  const folder = stateFolder(real);
  mkdirSync(folder, { recursive: true });
  chmodSync(STATE_FOLDER, 0o700);
  keepVersion(folder);
  let poll = () => {};
  let halt: (why: string) => void = (why) => endWith(new Error(why));
  const tablePath = join(folder, 'dynamodb');
  const stack = await startLocalStack({ tablePath, queueChanged: () => poll(), tableFailed: (why) => halt(why) });
  const key = stack.variables.AWS_ACCESS_KEY_ID;
  const { partners, sandbox }: Instances = real ? { partners: real } : await startSandboxFor(connections, folder, key);
  const { webhookSecret, github } = enterSecrets(stack, folder, partners, kept);
  const slack = config.slack && (await enterSlack(stack, folder, kept));

  // From here on, the functions' AWS SDK uses the local stack.
  Object.assign(process.env, stack.variables);
  const logFile = join(folder, 'functions.log');
  const story = startStory(logFile, (line) => console.log(line), slack?.standIn?.users);
  const metrics = createMetrics('local', story.writeLine, Date.now);
  const changes = createLoggedChanges();
  const log = watchedLog(story.log, changes.saw);
  const standsIn = sandbox && !github && usesGithubCom(config);
  const answers = {};
  const githubStandIn = standsIn ? await enterGithubStandIn(stack, log, Date.now, answers) : undefined;
  const withStandIns = (config: RelayConfig) => withGithubAt(githubStandIn?.url, withSlackAt(slack, config));
  const runtime = {
    ...systemRuntime(withStandIns(config), process.env, own.custom),
    log,
    metrics,
    isGithubStandIn: !!githubStandIn,
  };
  const functions = await startLocalFunctions(runtime, stack, () => poll());
  if (githubStandIn) functions.takeGithub = remembering(functions.takeGithub, githubStandIn);
  const { source, schedules } = functions;
  const customFiles = watchCustom(own, {
    read: () => readCustomFolder(runtime.config),
    use: (custom) => functions.use({ custom }),
    tell: story.tell,
  });
  const givenFiles = watchGiven({ answers, data: sandbox?.data, tell: story.tell });
  const secretFile = watchHookSecrets(stack, kept, () => functions.use({}), story.tell);
  const stopWatching = watchConfig(config, files, {
    async use(config) {
      await functions.use({ config: withStandIns(config) });
      // A new configuration may make a file of automations/ valid or invalid.
      await customFiles.check();
    },
    customFaults: async (config) => (await readCustomFolder(config)).faults,
    tell: story.tell,
  });
  const halted = createHalt(folder, (why) => {
    story.tell(`${why}. Until then, the relay takes nothing and answers 503.`);
    story.mute();
    void Promise.all([schedules.stop(), source.stop()]);
  });
  halt = halted.because;
  process.on('uncaughtException', (error) => {
    if (isDiskFull(error)) return halt(DISK_FULL);
    console.error(error);
    process.exit(1);
  });
  const requestFailed = (error: unknown) => story.log.error({ message: 'a request failed', error: String(error) });
  // New for each start. If another program takes the port later, an open tab may send it the token, which is then
  // useless.
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
    runSchedule: schedules.run,
    logFile,
    token,
    failed: requestFailed,
    try: createTry({
      clock: Date.now,
      addresses: () => addressesBelow(url),
      sandbox,
      webhookSecret: webhookSecret.value,
      table: stores.table,
      runtime,
      slack: slack && { ...slack, signingSecret: slack.signingSecret.value },
    }),
  });
  const routes = { ...routesOf(functions, config), ...controlRoutes(schedules, key) };
  const front = await startHttpFront(port, routes, requestFailed, consoleOfRelay, halted.why);

  const unfinished = await takeUp(stores, config, !isNotedAsRunning());
  url = front.url;
  // Only now, because the port may be any.
  runtime.environment.ACCOUNT_LINK_URL = `${url}/link`;
  const consoleUrl = `${url}/#token=${token}`;
  noteRunning({
    url,
    slackStandIn: slack?.standIn?.url,
    githubStandIn: githubStandIn?.url,
    sandbox: sandbox?.url,
    logFile,
    console: consoleUrl,
    variables: stack.variables,
  });
  console.log(
    banner({
      url,
      consoleUrl,
      webhookSecret,
      comments: commentsInWords(github?.from, githubStandIn),
      slack,
      partners,
      sandbox,
      folder,
      unfinished,
      own: customLines(own, config.slack?.command),
      verbose,
    }),
  );
  poll = source.poll;
  poll();
  schedules.start();
  const { SLACK_APP_TOKEN: appToken } = process.env;
  const socket = appToken && config.slack ? openSocket(appToken, config.slack, url, stores, story.log) : undefined;

  const stop = async () => {
    noteStopped();
    stopWatching();
    for (const files of [customFiles, givenFiles, secretFile]) files.close();
    await Promise.all([front.close(), schedules.stop(), source.stop(), socket?.close()]);
    const standIns = [sandbox?.close(), slack?.standIn?.close(), githubStandIn?.close()];
    await Promise.all([stack.close(), ...standIns, story.close()]);
    process.exit(0);
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

/** The routes that GitHub, Slack and people's browsers call. */
function routesOf(
  { takeGithub, takeSlack, takeHook, linkPages }: LocalFunctions,
  config: RelayConfig,
): Record<string, HttpHandler> {
  return {
    'POST /github': takeGithub,
    'POST /hooks/*': takeHook,
    ...(config.slack && {
      'POST /slack': takeSlack,
      'POST /slack/commands': takeSlack,
      'POST /slack/interactions': takeSlack,
    }),
    ...(linksAccounts(config) && linkRoutes(linkPages, config.connections)),
  };
}

/** Receives Slack's commands and interactions by Socket Mode, because Slack cannot reach this machine. */
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
    failed: (error) => log.warn({ message: 'Socket Mode', error: messageOf(error) }),
  });
}

function readPort(text: string | undefined): number {
  if (!text) return DEFAULT_PORT;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new Error(`PORT is '${text}'; expected a number from 0 to 65535`);
}

/** The URLs for requests of GitHub and Slack. */
const addressesBelow = (url: string) => ({
  github: `${url}/github`,
  commands: `${url}/slack/commands`,
  interactions: `${url}/slack/interactions`,
});

function endWith(error: unknown): never {
  const why = messageOf(error);
  console.error(printable(isDiskFull(error) ? DISK_FULL : why));
  process.exit(1);
}
