import { randomBytes } from 'node:crypto';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { type JobStatus, jobStatuses } from '../../lib/engine/record/job.ts';
import { openStores, type Runtime, systemRuntime } from '../../lib/runtime.ts';
import { createMetrics } from '../../lib/state/metrics/metrics.ts';
import { decryptPayload } from '../../sandbox/decryption.ts';
import { asSqsHandler, deliver } from '../event-source.ts';
import { signedByGithub } from '../examples/signed-request.ts';
import { remembering } from '../github/remember.ts';
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
  /** `defects/create` */
  operation: string;
  payload: Record<string, unknown>;
  status: number;
}

const MINUTE_MS = 60_000;
const UNDER_WAY: readonly JobStatus[] = ['queued', 'running', 'waiting'];

export type TrialRelay = Awaited<ReturnType<typeof startTrialRelay>>;

/**
 * Starts the functions, unchanged, in this process, with all that they need on this machine and a clock of their own. They
 * begin without data, and reach nothing but their own stand-ins. Nobody has linked an account.
 *
 * @param now when the clock begins; epoch milliseconds
 */
export async function startTrialRelay(given: RelayConfig, now: number) {
  const clock = { now };
  const read = () => clock.now;
  const quiet = { info() {}, warn() {}, error() {} };
  const key = randomBytes(32).toString('hex');
  const stack = await startLocalStack({ clock: read });
  const { partners, sandbox } = await startSandboxWith(Object.keys(given.connections), { clock: read });
  const github = await enterGithubStandIn(stack, quiet, read);
  const standIn = await startSlackStandIn({ clock: read, botToken: key });
  const slack = { signingSecret: { value: key, from: '' }, standIn };
  const enter = (name: string, secret: object) => stack.secrets.put(stack.secretPrefix + name, secret, now);
  enter('github-webhook', { webhookSecret: key });
  enter('slack', { signingSecret: key, botToken: key });
  enter('grants', { key });
  for (const [name, partner] of partners) for (const kind of ['partner', 'instance']) enter(`${kind}/${name}`, partner);
  Object.assign(process.env, stack.variables);

  const calls: TrialCall[] = [];
  const fetchHere: typeof fetch = async (input, init) => {
    const { hostname, pathname } = new URL(String(input));
    if (hostname !== '127.0.0.1') throw new TypeError(`a trial reaches no network, and so not ${hostname}`);
    const response = await fetch(input, init);
    const apiKey = new Headers(init?.headers).get('x-api-key');
    const partner = [...partners.values()].find((one) => one.apiKey === apiKey);
    if (!partner) return response;
    const payload = decryptPayload(Buffer.from(String(init?.body)), partner.secretKey);
    calls.push({ operation: pathname.replace('/api/v1/partner/', ''), payload, status: response.status });
    return response;
  };
  const runtime: Runtime = {
    ...systemRuntime(withGithubAt(github.url, withSlackAt(slack, asDeclared(given))), process.env),
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
    const end = clock.now + MINUTE_MS;
    return { getRemainingTimeInMillis: () => end - clock.now, awsRequestId: '', functionName: '' };
  };
  const list = async (statuses: readonly JobStatus[]) =>
    (await Promise.all(statuses.map((status) => stores.jobs.list(status, { limit: Number.MAX_SAFE_INTEGER })))).flat();

  /** Works on one message, people's first. @returns whether there was one */
  async function workOnce(): Promise<boolean> {
    for (const queue of stack.queues) {
      const message = queue.receive();
      if (message) await deliver(queue, message, (event) => runJob(event, contextNow()));
      if (message) return true;
    }
    return false;
  }

  return {
    calls,
    comments: github.comments,
    /** Hands a delivery to the webhook, signed. @returns why it makes no job; undefined if it makes one */
    async take(event: string, payload: object): Promise<string | undefined> {
      const { headers, body } = signedByGithub(event, JSON.stringify(payload), key, 'trial');
      const request = functionUrlEvent({ method: 'POST', headers, url: '/github' }, '/github', Buffer.from(body));
      const { ignored, error = ignored } = JSON.parse((await takeGithub(request)).body ?? '{}');
      return error;
    },
    /** Lets time pass and jobs run until then, or until no job is under way. It moves the clock. */
    async workUntil(end: number): Promise<void> {
      while (clock.now <= end) {
        while (clock.now <= end && (await workOnce())) {}
        const underWay = await list(UNDER_WAY);
        if (underWay.length === 0) return;
        clock.now = Math.max(clock.now, Math.min(end, nextMoment(clock.now, stack.queues, underWay)));
        if (clock.now >= end) return;
        await runSweep({}, contextNow());
      }
    },
    /** In the order in which they came. */
    jobs: async () => (await list(jobStatuses)).sort((a, b) => a.createdAt - b.createdAt),
    async close() {
      await Promise.all([sandbox.close(), github.close(), standIn.close(), stack.close()]);
    },
  };
}

/** The sandbox has no other names and fields of operations than those declared. */
function asDeclared(config: RelayConfig): RelayConfig {
  const connections = Object.entries(config.connections).map(([name, one]) => [name, { ...one, operations: {} }]);
  return { ...config, connections: Object.fromEntries(connections) };
}
