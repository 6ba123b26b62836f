import { randomBytes } from 'node:crypto';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { type Runtime, systemRuntime } from '../../lib/runtime.ts';
import { createMetrics } from '../../lib/state/metrics/metrics.ts';
import { parsedJson } from '../../lib/text.ts';
import { timesOf } from '../../lib/triggers/cron.ts';
import { type CustomAutomations, customOf } from '../../lib/triggers/custom-automation.ts';
import { decryptPayload } from '../../sandbox/decryption.ts';
import { type Data, idFields, type Project } from '../../sandbox/records.ts';
import { signedByGithub, signedBySlack, signedByTool } from '../examples/signed-request.ts';
import { remembering } from '../github/remember.ts';
import { addRecords } from '../given.ts';
import { startSandboxWith } from '../instances.ts';
import { enterGithubStandIn, withGithubAt } from '../local-github.ts';
import { withSlackAt } from '../local-slack.ts';
import { userFault } from '../slack/control.ts';
import { commandForm } from '../slack/requests.ts';
import { startSlackStandIn } from '../slack/stand-in.ts';
import { openMemoryStack } from '../world/memory-stack.ts';
import { openWorld } from '../world/world.ts';
import { createAnswers } from './answers.ts';
import type { GivenWorld } from './define-tests.ts';
import { createTroubles, type Trouble } from './trouble.ts';

/** An event of a test. */
export type Given =
  | { event: string; payload: object }
  | { command: string; by: string; channel: string }
  | { schedule: string }
  | { hook: string; body: object; headers?: Readonly<Record<string, string>> };

/** A request that the sandbox got. */
export interface TrialCall {
  /** `defects/create` */
  operation: string;
  payload: Record<string, unknown>;
  status: number;
}

/** The records at the beginning, and people's answers to the questions of jobs. */
export type TrialWorld = GivenWorld & { answers: Readonly<Record<string, string>> };

export type TrialRelay = Awaited<ReturnType<typeof startTrialRelay>>;

/** All secrets of a trial. It stays the same, so values derived from it are the same in each run. */
const key = randomBytes(32).toString('hex');

/**
 * Starts the unchanged functions in this process, with everything that they need on this machine and their own clock.
 * They begin without data, reach only their own stand-ins, and no account is linked.
 *
 * @param now when the clock begins; epoch milliseconds
 * @param world the records and answers that the test adds
 * @param trouble what goes wrong in the jobs of the team's automations
 */
export async function startTrialRelay(
  given: RelayConfig,
  now: number,
  custom: CustomAutomations,
  world: TrialWorld,
  trouble: Trouble,
) {
  const clock = { now };
  const read = () => clock.now;
  const quiet = { info() {}, warn() {}, error() {} };
  const stack = openMemoryStack({ clock: read });
  const { partners, sandbox } = await startSandboxWith(Object.keys(given.connections), { clock: read });
  const { data } = sandbox;
  addProjects(given, data.projects);
  addRecords(data, world);
  const atFirst = structuredClone(data);
  const github = await enterGithubStandIn(stack, quiet, read, world.github);
  const standIn = await startSlackStandIn({ clock: read, botToken: key });
  const slack = { signingSecret: { value: key, from: '' }, standIn };
  const enter = (name: string, secret: object) => stack.secrets.put(stack.secretPrefix + name, secret, now);
  enter('github-webhook', { webhookSecret: key });
  enter('slack', { signingSecret: key, botToken: key });
  enter('grants', { key });
  enter('hooks', Object.fromEntries(customOf(custom, 'webhook').map(({ name }) => [name, key])));
  for (const name of ['markers', 'intake']) enter(name, { key });
  for (const [name, partner] of partners) for (const kind of ['partner', 'instance']) enter(`${kind}/${name}`, partner);
  Object.assign(process.env, stack.variables);

  const calls: TrialCall[] = [];
  const fetchHere: typeof fetch = async (input, init) => {
    const { hostname, pathname } = new URL(String(input));
    if (hostname !== '127.0.0.1') throw new TypeError(`a test has no network, and cannot reach ${hostname}`);
    const response = await fetch(input, init);
    const apiKey = new Headers(init?.headers).get('x-api-key');
    const partner = [...partners.values()].find((one) => one.apiKey === apiKey);
    if (!partner) return response;
    const payload = decryptPayload(Buffer.from(String(init?.body)), partner.secretKey);
    calls.push({ operation: pathname.replace('/api/v1/partner/', ''), payload, status: response.status });
    return response;
  };
  const errors: string[] = [];
  const runtime: Runtime = {
    ...systemRuntime(withGithubAt(github.url, withSlackAt(slack, asDeclared(given))), process.env, custom),
    clock: read,
    random: () => 0.5,
    async sleep(ms) {
      clock.now += ms;
    },
    fetch: fetchHere,
    log: { ...quiet, error: ({ message, error }) => void errors.push(`${message}: ${error}`) },
    metrics: createMetrics(stack.variables.STAGE, () => {}, read),
  };
  const troubles = createTroubles(trouble, (automation) => custom.list.some(({ name }) => name === automation));
  const ofWorker: Runtime = {
    ...runtime,
    log: troubles.log,
    fetch: (...request) => troubles.fetch(() => fetchHere(...request)),
  };
  const { stores, functions, fire, jobs, workToTheEnd } = openWorld({
    clock,
    stack,
    runtime,
    runtimeOf: (slug) => (slug === 'job-worker' ? ofWorker : runtime),
    around: troubles.run,
    meanwhile: async () => people.answer(await jobs(['waiting', 'parked'])),
  });
  functions.takeGithub = remembering(functions.takeGithub, github);

  const toSlack = (form: URLSearchParams) => functions.take({ url: '/slack', ...signedBySlack(form, key, clock.now) });
  const people = createAnswers(world.answers, { standIn, stores, clock: read, post: toSlack });

  async function answerTo(given: Given): Promise<APIGatewayProxyStructuredResultV2> {
    if ('event' in given) {
      const delivery = signedByGithub(given.event, JSON.stringify(given.payload), key, `trial-${clock.now}`);
      return functions.take({ url: '/github', ...delivery });
    }
    if ('command' in given) {
      const fault = userFault(given.by, standIn);
      if (fault !== undefined) throw new Error(fault);
      const typed = `${runtime.config.slack?.command ?? '/pm'} ${given.command}`;
      const form = commandForm(standIn, typed, { userId: given.by, channelId: given.channel });
      return toSlack(form);
    }
    if ('hook' in given) {
      const { hook, body, headers } = given;
      const automation = customOf(custom, 'webhook').find(({ name }) => name === hook);
      if (!automation) throw new Error(`there is no webhook '${hook}' in automations/`);
      const signed = signedByTool(automation.verify, JSON.stringify(body), key, { now: clock.now, headers });
      return functions.take({ url: `/hooks/${hook}`, ...signed });
    }
    const due = customOf(custom, 'schedule').find(({ name }) => name === given.schedule);
    if (due && timesOf(due.cron, due.timeZone, clock.now - 1, clock.now).length === 0)
      return { statusCode: 200, body: JSON.stringify({ ignored: `'${due.cron}' is not due at this time` }) };
    await fire('due-schedules', { own: given.schedule, at: new Date(clock.now).toISOString() });
    return { statusCode: 200 };
  }

  const { comments } = github;
  const { messages } = standIn;
  let before = { calls: 0, comments: 0, messages: 0 };

  return {
    calls,
    comments,
    messages,
    /** The effects of the last accepted event. */
    latest: () => ({
      calls: calls.slice(before.calls),
      comments: comments.slice(before.comments),
      messages: messages.slice(before.messages),
    }),
    /** The steps that the team's automations carried out. */
    steps: troubles.steps,
    troublesMet: troubles.met,
    unasked: people.unasked,
    /** The records of a kind that were not there at the beginning. A change replaces a record. */
    newRecords(kind: keyof Data): object[] {
      const idOf = (record: object): unknown => Reflect.get(record, idFields[kind]);
      const known = new Set(atFirst[kind].map(idOf));
      return data[kind].filter((record) => !known.has(idOf(record)));
    },
    /**
     * Sends the event at that time, or now if that is later. @returns why it makes no job; undefined if it makes one
     * @throws {Error} if the relay refuses it
     */
    async take(given: Given, at: number): Promise<string | undefined> {
      clock.now = Math.max(clock.now, at);
      errors.length = 0;
      before = { calls: calls.length, comments: comments.length, messages: messages.length };
      const { statusCode = 200, body = '' } = await answerTo(given);
      const { ignored, error, text } = (parsedJson(body) ?? {}) as Record<string, string | undefined>;
      // The log has more: the answer to GitHub names the file only.
      if (statusCode >= 400) throw new Error(errors.join('; ') || error);
      return ignored ?? text;
    },
    /** Runs jobs, and moves the clock, for the given time or until no job is under way. */
    work: workToTheEnd,
    /** Oldest first. */
    jobs: () => jobs(),
    async close() {
      await Promise.all([sandbox.close(), github.close(), standIn.close(), stack.close()]);
    },
  };
}

/** Removes overrides of operations, because the sandbox has the declared names and fields. */
function asDeclared(config: RelayConfig): RelayConfig {
  const connections = Object.entries(config.connections).map(([name, one]) => [name, { ...one, operations: {} }]);
  return { ...config, connections: Object.fromEntries(connections) };
}

/** Adds the projects that the configuration names. */
function addProjects(config: RelayConfig, projects: Project[]): void {
  const [like] = projects;
  for (const [, project_id = ''] of JSON.stringify(config).matchAll(/"projectId":"([^"]+)"/g)) {
    const isKnown = projects.some((project) => project.project_id === project_id);
    if (like && !isKnown) projects.push({ ...like, project_id, name: project_id });
  }
}
