import { randomBytes } from 'node:crypto';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { type Job, type JobStatus, jobStatuses } from '../../lib/engine/record/job.ts';
import { openStores, type Runtime, type Stores, systemRuntime } from '../../lib/runtime.ts';
import { createMetrics } from '../../lib/state/metrics/metrics.ts';
import { decryptPayload } from '../../sandbox/decryption.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { asSqsHandler, deliver } from '../event-source.ts';
import { signedByGithub } from '../examples/signed-request.ts';
import type { FifoQueue } from '../fifo-queue.ts';
import { remembering } from '../github/remember.ts';
import type { MadeComment } from '../github/stand-in.ts';
import { asHttpHandler, functionUrlEvent } from '../http-front.ts';
import { startSandboxWith } from '../instances.ts';
import { enterGithubStandIn, withGithubAt } from '../local-github.ts';
import { withSlackAt } from '../local-slack.ts';
import { asScheduledHandler } from '../schedules.ts';
import { startSlackStandIn } from '../slack/stand-in.ts';
import { startLocalStack } from '../stack.ts';
import { nextMoment } from './next-moment.ts';

/** A request that the sandbox was sent. */
export interface TrialCall {
  connection: string;
  /** `defects/create` */
  operation: string;
  payload: Record<string, unknown>;
  status: number;
  /** By the clock of the trial; epoch milliseconds. */
  at: number;
}

/** The functions, unchanged, in this process, with all that they need on this machine and a clock of their own. */
export interface TrialRelay {
  /** Epoch milliseconds. Work moves it. */
  clock: { now: number };
  stores: Stores;
  sandbox: Sandbox;
  calls: readonly TrialCall[];
  comments: readonly MadeComment[];
  /** Hands a delivery to the webhook, signed. @returns the webhook's answer */
  take(event: string, payload: object, id: string): Promise<{ status: number; answer: Record<string, unknown> }>;
  /** Lets time pass and jobs run until then, or until no job is under way. */
  workUntil(end: number): Promise<void>;
  /** In the order in which they came. */
  jobs(): Promise<Job[]>;
  close(): Promise<void>;
}

const WORKER_TIMEOUT_MS = 60_000;
const UNDER_WAY: readonly JobStatus[] = ['queued', 'running', 'waiting'];

/**
 * Starts a relay that has nothing behind it and reaches nothing but its own stand-ins. Nobody has linked an account.
 * Operations keep their declared names and fields, because the sandbox has no others.
 *
 * @param now when its clock begins; epoch milliseconds
 */
export async function startTrialRelay(given: RelayConfig, now: number): Promise<TrialRelay> {
  const clock = { now };
  const read = () => clock.now;
  const connections = Object.keys(given.connections);
  const stack = await startLocalStack({ clock: read });
  const { partners, sandbox } = await startSandboxWith(connections, { clock: read });
  const key = randomBytes(32).toString('hex');
  const quiet = { info() {}, warn() {}, error() {} };
  const github = await enterGithubStandIn(stack, quiet, read);
  const standIn = await startSlackStandIn({ clock: read, botToken: key });
  const slack = { signingSecret: { value: key, from: '' }, standIn };
  const config = withGithubAt(github.url, withSlackAt(slack, asDeclared(given)));
  const secrets = {
    'github-webhook': { webhookSecret: key },
    slack: { signingSecret: key, botToken: key },
    grants: { key },
  };
  for (const [name, secret] of Object.entries(secrets)) stack.secrets.put(stack.secretPrefix + name, secret, now);
  for (const [name, partner] of partners) {
    stack.secrets.put(`${stack.secretPrefix}partner/${name}`, partner, now);
    stack.secrets.put(`${stack.secretPrefix}instance/${name}`, { baseUrl: partner.baseUrl }, now);
  }
  Object.assign(process.env, stack.variables);

  const calls: TrialCall[] = [];
  const connectionOf = new Map([...partners].map(([name, { apiKey }]) => [apiKey, name]));
  const prefix = `${sandbox.url}/api/v1/partner/`;
  const fetchHere: typeof fetch = async (input, init) => {
    const url = String(input);
    if (new URL(url).hostname !== '127.0.0.1') throw new TypeError(`a trial reaches no network, and so not ${url}`);
    const at = clock.now;
    const response = await fetch(input, init);
    const connection = connectionOf.get(new Headers(init?.headers).get('x-api-key') ?? '');
    const partner = connection === undefined ? undefined : partners.get(connection);
    if (connection === undefined || !partner || !url.startsWith(prefix)) return response;
    const payload = decryptPayload(Buffer.from(String(init?.body)), partner.secretKey);
    calls.push({ connection, operation: url.slice(prefix.length), payload, status: response.status, at });
    return response;
  };
  const runtime: Runtime = {
    ...systemRuntime(config, process.env),
    clock: read,
    random: () => 0.5,
    async sleep(ms) {
      clock.now += ms;
    },
    fetch: fetchHere,
    log: quiet,
    metrics: createMetrics(stack.variables.STAGE, () => {}, read),
  };
  const [webhook, worker, sweep] = await Promise.all([
    import('../../functions/github-webhook.ts'),
    import('../../functions/job-worker.ts'),
    import('../../functions/job-sweep.ts'),
  ]);
  const takeGithub = remembering(asHttpHandler(webhook.createHandler(runtime)), github);
  const runJob = asSqsHandler(worker.createHandler(runtime));
  const runSweep = asScheduledHandler(sweep.createHandler(runtime));
  const stores = openStores(runtime);

  const contextNow = () => {
    const end = clock.now + WORKER_TIMEOUT_MS;
    return { getRemainingTimeInMillis: () => end - clock.now, awsRequestId: '', functionName: '' };
  };
  const list = async (statuses: readonly JobStatus[]) =>
    (await Promise.all(statuses.map((status) => stores.jobs.list(status, { limit: Number.MAX_SAFE_INTEGER })))).flat();

  /** One message, people's first. @returns whether there was one */
  async function workOnce(queues: readonly FifoQueue[]): Promise<boolean> {
    for (const queue of queues) {
      const message = queue.receive();
      if (!message) continue;
      await deliver(queue, message, (event) => runJob(event, contextNow()));
      return true;
    }
    return false;
  }

  return {
    clock,
    stores,
    sandbox,
    calls,
    comments: github.comments,
    async take(event, payload, id) {
      const { headers, body } = signedByGithub(event, JSON.stringify(payload), key, id);
      const request = functionUrlEvent({ method: 'POST', headers, url: '/github' }, '/github', Buffer.from(body));
      const { statusCode = 0, body: answer = '{}' } = await takeGithub(request);
      return { status: statusCode, answer: JSON.parse(answer) };
    },
    async workUntil(end) {
      while (clock.now <= end) {
        if (await workOnce(stack.queues)) continue;
        const underWay = await list(UNDER_WAY);
        if (underWay.length === 0) return;
        const next = nextMoment(clock.now, stack.queues, underWay);
        if (next > end) {
          clock.now = end;
          return;
        }
        clock.now = next;
        await runSweep({}, contextNow());
      }
    },
    jobs: async () => (await list(jobStatuses)).sort((a, b) => a.createdAt - b.createdAt),
    async close() {
      await Promise.all([sandbox.close(), github.close(), standIn.close(), stack.close()]);
    },
  };
}

function asDeclared(config: RelayConfig): RelayConfig {
  const connections = Object.entries(config.connections).map(([name, one]) => [name, { ...one, operations: {} }]);
  return { ...config, connections: Object.fromEntries(connections) };
}
