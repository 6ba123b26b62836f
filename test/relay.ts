import { described } from '../lib/automations/custom/folder.ts';
import { defineConfig, type RelayConfig, type RelayConfigInput } from '../lib/config/schema.ts';
import { requeueJob } from '../lib/engine/line/sweep.ts';
import type { Job, JobStatus } from '../lib/engine/record/job.ts';
import { openJournal } from '../lib/engine/record/journal.ts';
import { createLinks, type Links } from '../lib/links/links.ts';
import { type Runtime, systemRuntime } from '../lib/runtime.ts';
import type { Limits } from '../lib/service/budget/window.ts';
import { createMetrics } from '../lib/state/metrics/metrics.ts';
import type { CustomAutomations, CustomRun, CustomTrigger } from '../lib/triggers/custom-automation.ts';
import { usesGithubCom, withGithubAt } from '../local/local-github.ts';
import { type SlackCall, type SlackStandIn, startSlackStandIn } from '../local/slack/stand-in.ts';
import type { SlackMessage, StandInView } from '../local/slack/workspace.ts';
import { type LocalStack, startLocalStack } from '../local/stack.ts';
import type { Attributes } from '../local/world/expressions.ts';
import { openMemoryStack } from '../local/world/memory-stack.ts';
import { openWorld, type World } from '../local/world/world.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../sandbox/sandbox.ts';
import { type GithubApi, startGithubApi } from './github-api.ts';
import { closeLater } from './opened.ts';
import { GRANTS_KEY, githubDelivery, SIGNING_SECRET, WEBHOOK_SECRET } from './requests.ts';
import { lastMessage, lastView, told } from './slack-requests.ts';
import { createTableFaults, type TableFaults } from './table-faults.ts';

export { githubSignature, SIGNING_SECRET, WEBHOOK_SECRET } from './requests.ts';

/** The project of the sandbox's seed for defects. */
export const PROJECT = '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01';
const BOT_TOKEN = 'xoxb-of-the-tests';

/** A clock that stands still until it is moved. */
export interface TestClock {
  now: number;
}

/** A configuration for GitHub's example repository. */
export function exampleConfig(
  issueToDefect: Partial<
    NonNullable<NonNullable<RelayConfigInput['github']>['repositories']>[number]['issueToDefect']
  > = {},
  rest: {
    apiUrl?: string;
    connection?: RelayConfigInput['connections'][string];
    also?: string[];
    checkPullRequest?: { exemptLabels?: string[] };
    tests?: NonNullable<NonNullable<RelayConfigInput['github']>['repositories']>[number]['tests'];
    slack?: Partial<RelayConfigInput['slack']>;
    people?: RelayConfigInput['people'];
    timesheets?: RelayConfigInput['timesheets'];
  } = {},
): RelayConfig {
  return defineConfig({
    connections: { main: rest.connection ?? {} },
    github: {
      ...(rest.apiUrl && { apiUrl: rest.apiUrl }),
      repositories: ['Codertocat/Hello-World', ...(rest.also ?? [])].map((name) => ({
        name,
        connection: 'main',
        // Most tests are about one change, and not about the wait for further ones.
        issueToDefect: { projectId: PROJECT, foldSeconds: 0, ...issueToDefect },
        issueToTask: { projectId: PROJECT },
        completeChecklistItem: true,
        logTime: true,
        relate: true,
        ...(rest.checkPullRequest && { checkPullRequest: rest.checkPullRequest }),
        ...(rest.tests && { tests: rest.tests }),
      })),
    },
    slack: { connection: 'main', channels: { C0PLATFORM: { projectId: PROJECT } }, ...rest.slack },
    ...(rest.people && { people: rest.people }),
    ...(rest.timesheets && { timesheets: rest.timesheets }),
  });
}

/** The configuration with limits that may be higher than the service's. */
export function withLimits(config: RelayConfig, limits: Limits): RelayConfig {
  const connections = Object.entries(config.connections).map(([name, connection]) => {
    return [name, { ...connection, limits, mcp: { ...connection.mcp, limits } }];
  });
  return { ...config, connections: Object.fromEntries(connections) };
}

export interface TestRelayOptions {
  config?: RelayConfig;
  /** The exports of files of automations/, by name. */
  own?: Readonly<Record<string, { on: unknown; run: unknown }>>;
  sandbox?: SandboxOptions;
  /** The `github` secret; empty by default. */
  github?: object;
  /** The value of the `github-webhook` secret. An empty one counts as missing. */
  webhookSecret?: string;
  /** The `slack` secret, instead of the stand-in's. */
  slack?: object;
  /** Whether the table is dynalite, which other processes can reach. */
  tableOnWire?: boolean;
  /** A proxy between the functions and dynalite. @returns its address */
  tableThrough?: (endpoint: string) => Promise<string>;
  /** Changes of the functions' environment. */
  environment?: Partial<Runtime['environment']>;
  /** Replaces parts of the functions' runtime, so that a test can act at that moment. */
  runtime?: Partial<Pick<Runtime, 'custom' | 'fetch' | 'randomBytes'>>;
  /** How far the clock of a function's process is ahead, by the function's slug. */
  aheadMs?: Readonly<Record<string, number>>;
}

/** Partner Relay with everything around it, over real sockets, on its own clock. It closes with the test. */
export interface TestRelay extends Omit<World, 'jobs'> {
  clock: TestClock;
  sandbox: Sandbox;
  /** `calls` are all its requests. Posts to response URLs have the method `response_url`. */
  slack: SlackStandIn & { calls: SlackCall[] };
  github: GithubApi;
  stack: LocalStack;
  /** Faults of the table, if it is in memory. */
  table: TableFaults;
  links: Links;
  runtime: Runtime;
  /** The functions' log lines, and their metrics. */
  log: Record<string, unknown>[];
  metrics: Record<string, unknown>[];
  url: string;
  slackUrl: string;
  /** Posts a payload as GitHub does, signed unless the headers say otherwise. */
  post(
    event: string,
    payload: unknown,
    headers?: Record<string, string | undefined>,
  ): Promise<{ status: number; answer: Record<string, unknown> }>;
  /** Posts bytes with only these headers. */
  postRaw(
    body: string | Uint8Array,
    headers: Record<string, string>,
  ): Promise<{ status: number; answer: Record<string, unknown> }>;
  /** Delivers events of issues in turn, and completes the work of each. */
  happens(...events: readonly object[]): Promise<void>;
  sweep(): Promise<unknown>;
  /** Lets time pass in steps. After each, the sweep runs, and then the worker. */
  pass(ms: number, stepMs?: number): Promise<void>;
  /** The texts that people in Slack read, oldest first; and the last message and modal. */
  told(): string[];
  lastMessage(): SlackMessage;
  lastView(): StandInView;
  /** The number of messages in the queues. */
  queued(): number;
  /** The number of calls of an endpoint of the service. */
  requestsTo(endpoint: string): number;
  isCompleted(checklistItem: number): boolean | undefined;
  /** Adds tasks to the seed. @param named their names, by id. @returns removes them */
  addTasks(named: Readonly<Record<string, string>>): () => void;
  /** The service's defects besides its seed, oldest first. */
  defects(): Sandbox['data']['defects'];
  timelogs(): Sandbox['data']['timelogs'];
  jobs(status?: JobStatus): Promise<Job[]>;
  /** An operator replays all parked jobs, and the work is completed. */
  replay(): Promise<void>;
  steps(jobId: string): Promise<Record<string, string>>;
  /** The table's items, if it is in memory. */
  backUp(): Attributes[];
  /** Loses the table; ten minutes later, a new one has these items. */
  replaceTable(items: readonly Attributes[]): void;
  close(): Promise<void>;
}

export async function startRelay(options: TestRelayOptions = {}): Promise<TestRelay> {
  const clock: TestClock = { now: Date.parse('2026-11-20T10:00:00Z') };
  const read = () => clock.now;
  const calls: SlackCall[] = [];
  const standIn = await startSlackStandIn({
    clock: read,
    botToken: BOT_TOKEN,
    called: (call) => void calls.push(call),
  });
  const slack = Object.assign(standIn, { calls });
  const github = await startGithubApi(read);
  const wanted = options.config ?? exampleConfig();
  const given = withGithubAt(usesGithubCom(wanted) ? github.url : undefined, wanted);
  const config = given.slack ? { ...given, slack: { ...given.slack, apiUrl: `${slack.url}/api` } } : given;
  const { tableOnWire, tableThrough } = options;
  const { faults, carry } = createTableFaults();
  const memory = tableOnWire || tableThrough ? undefined : openMemoryStack({ clock: read, carry });
  const stack = memory ?? (await startLocalStack({ clock: read }));
  const sandbox = await startSandbox({ clock: read, ...options.sandbox });
  const seeded = { defects: sandbox.data.defects.length, timelogs: sandbox.data.timelogs.length };
  const enter = (name: string, secret: object) => stack.secrets.put(stack.secretPrefix + name, secret);
  for (const connection of Object.keys(config.connections)) {
    enter(`partner/${connection}`, { baseUrl: sandbox.url, ...sandbox.keys[0] });
    enter(`instance/${connection}`, { baseUrl: sandbox.url });
  }
  enter('github-webhook', { webhookSecret: options.webhookSecret ?? WEBHOOK_SECRET });
  enter('github', { ...options.github });
  enter('grants', GRANTS_KEY);
  enter('slack', options.slack ?? { signingSecret: SIGNING_SECRET, botToken: BOT_TOKEN });

  Object.assign(process.env, stack.variables);
  const table = stack.variables.AWS_ENDPOINT_URL_DYNAMODB;
  if (tableThrough) process.env.AWS_ENDPOINT_URL_DYNAMODB = await tableThrough(table);
  const log: Record<string, unknown>[] = [];
  const metrics: Record<string, unknown>[] = [];
  const system = systemRuntime(config, process.env, customOf(options.own ?? {}, config));
  const runtime: Runtime = {
    ...system,
    ...options.runtime,
    environment: { ...system.environment, ...options.environment },
    clock: read,
    random: () => 0.5,
    sleep: async (ms) => {
      clock.now += ms;
    },
    log: { info: push(log), warn: push(log), error: push(log) },
    metrics: createMetrics('test', (line) => void metrics.push(JSON.parse(line)), read),
  };
  const runtimeOf = (slug: string): Runtime => {
    const aheadMs = options.aheadMs?.[slug] ?? 0;
    return { ...runtime, clock: () => clock.now + aheadMs };
  };
  const world = openWorld({ clock, stack, runtime, runtimeOf });
  const { functions, stores, jobs } = world;
  await Promise.all(['github-webhook', 'slack-webhook', 'hooks-webhook', 'job-worker'].map(functions.make));
  const front = await world.serve();
  const url = `${front.url}/github`;
  runtime.environment.ACCOUNT_LINK_URL = `${front.url}/link`;

  const relay: TestRelay = {
    ...world,
    clock,
    sandbox,
    slack,
    github,
    stack,
    table: faults,
    links: createLinks(stores.table, stores.clock),
    runtime,
    log,
    metrics,
    url,
    slackUrl: `${front.url}/slack`,
    post(event, payload, headers = {}) {
      const { body, headers: usual } = githubDelivery(event, payload);
      const given = Object.entries({ ...usual, ...headers }).filter(([, value]) => value !== undefined);
      return relay.postRaw(body, Object.fromEntries(given) as Record<string, string>);
    },
    async postRaw(body, headers) {
      const response = await fetch(url, { method: 'POST', headers, body: body as string });
      return { status: response.status, answer: (await response.json()) as Record<string, unknown> };
    },
    async happens(...events) {
      for (const event of events) {
        const { status } = await relay.post('issues', event);
        if (status !== 200 && status !== 202) throw new Error(`the event is answered with ${status}`);
        await relay.workToTheEnd();
        clock.now += 1;
      }
    },
    sweep: () => relay.fire('job-sweep'),
    async pass(ms, stepMs = 60_000) {
      for (const end = clock.now + ms; clock.now < end; ) {
        clock.now = Math.min(end, clock.now + stepMs);
        await relay.sweep();
        await relay.work();
      }
    },
    told: () => told(relay),
    lastMessage: () => lastMessage(relay),
    lastView: () => lastView(relay),
    queued: () => stack.queues.reduce((sum, { size }) => sum + size, 0),
    requestsTo: (endpoint) => sandbox.audit.filter((one) => one.endpoint === endpoint).length,
    isCompleted: (id) => sandbox.data.checklistItems.find(({ item_id }) => item_id === id)?.is_completed,
    addTasks(named) {
      const { tasks } = sandbox.data;
      const [task] = tasks;
      if (!task) throw new Error('the seed has no task');
      const at = tasks.length;
      tasks.push(...Object.entries(named).map(([task_id, name]) => ({ ...task, task_id, name, title: name })));
      return () => void tasks.splice(at, Object.keys(named).length);
    },
    defects: () => sandbox.data.defects.slice(seeded.defects),
    timelogs: () => sandbox.data.timelogs.slice(seeded.timelogs),
    jobs: (status) => jobs(status && [status]),
    async replay() {
      const decision = { at: clock.now, by: 'an operator', what: 'replayed' } as const;
      for (const job of await relay.jobs('parked')) await requeueJob(job, stores, decision);
      await relay.workToTheEnd();
    },
    async steps(jobId) {
      const journal = await openJournal(stores.table, jobId, read);
      return Object.fromEntries(journal.entries().map(({ step, status }) => [step, status]));
    },
    backUp: () => [...(memory?.table.items() ?? [])],
    replaceTable(items) {
      clock.now += 10 * 60_000;
      memory?.table.replace(items, clock.now);
    },
    async close() {
      await Promise.all([front.close(), sandbox.close(), slack.close(), github.close(), stack.close()]);
    },
  };
  closeLater(relay.close);
  return relay;
}

/** A team's automations, as its folder would give them. */
export function customOf(files: NonNullable<TestRelayOptions['own']>, config: RelayConfig): CustomAutomations {
  return {
    list: Object.entries(files).map(([name, file]) => described(name, file, [], config)),
    on: async (name) => files[name]?.on as CustomTrigger,
    run: async (name) => files[name]?.run as CustomRun,
  };
}

function push(log: Record<string, unknown>[]): (line: unknown) => void {
  return (line) => void log.push(line as Record<string, unknown>);
}
