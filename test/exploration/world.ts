import { randomBytes, randomUUID } from 'node:crypto';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import * as z from 'zod/mini';
import type { IssueState } from '../../lib/automations/defect-text.ts';
import type { RelayConfig } from '../../lib/config/schema.ts';
import type { Job, JobStatus } from '../../lib/jobs/job.ts';
import { createJobStore } from '../../lib/jobs/job-store.ts';
import type { JobQueue } from '../../lib/jobs/queue.ts';
import { createLinks } from '../../lib/links/links.ts';
import { createMetrics } from '../../lib/metrics/metrics.ts';
import type { Runtime, Stores } from '../../lib/runtime.ts';
import type { Secrets } from '../../lib/secrets/secrets.ts';
import { deliver, type SqsHandler } from '../../local/event-source.ts';
import { FifoQueue } from '../../local/fifo-queue.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { githubSignature, type TestClock, WEBHOOK_SECRET } from '../relay.ts';
import { createMemoryTable } from './memory-table.ts';

const WORKER_TIMEOUT_MS = 60_000;
const VISIBILITY_TIMEOUT_MS = 90_000;
const UNDER_WAY: readonly JobStatus[] = ['queued', 'running', 'waiting'];

/** Each function makes a handler of its own when it is loaded, from the environment. No world uses that one. */
const ENVIRONMENT = {
  ...{ STAGE: 'test', TABLE_NAME: 'none', SECRET_PREFIX: 'none/', AWS_REGION: 'local' },
  ...{ INTERACTIVE_QUEUE_URL: 'http://none', BACKGROUND_QUEUE_URL: 'http://none' },
};

async function loadFunctions() {
  Object.assign(process.env, ENVIRONMENT);
  const [webhook, worker, sweep] = await Promise.all([
    import('../../functions/github-webhook.ts'),
    import('../../functions/job-worker.ts'),
    import('../../functions/job-sweep.ts'),
  ]);
  return { webhook, worker, sweep };
}

/** The relay's functions around a table and queues in the memory of this process. */
export interface World {
  stores: Stores;
  /** What was logged as a bug. */
  bugs: unknown[];
  post(event: object): Promise<void>;
  /** Delivers what the queues hold now, until nothing can be received. */
  work(): Promise<void>;
  /** Works, moves the clock to whatever comes next, sweeps, and so on until nothing is under way. */
  workToTheEnd(): Promise<void>;
  jobs(status: JobStatus): Promise<Job[]>;
}

/** @param github undefined: the secret has no credentials for GitHub */
export async function createWorld(
  config: RelayConfig,
  sandbox: Sandbox,
  clock: TestClock,
  github: typeof globalThis.fetch | undefined,
): Promise<World> {
  const functions = await loadFunctions();
  const read = () => clock.now;
  const queues = ['interactive.fifo', 'background.fifo'].map(
    (name) => new FifoQueue(name, read, { visibilityTimeoutMs: VISIBILITY_TIMEOUT_MS }),
  );
  const table = createMemoryTable();
  const stores: Stores = {
    table,
    jobs: createJobStore(table, read),
    links: createLinks<IssueState>(table, read),
    queue: queueOver(queues),
    secrets: secretsOf({
      github: { webhookSecret: WEBHOOK_SECRET, ...(github && { token: 'ghp_test' }) },
      'partner/main': { baseUrl: sandbox.url, ...sandbox.keys[0] },
    }),
  };
  const bugs: unknown[] = [];
  const note = (line: unknown) => {
    if (JSON.stringify(line).includes('nobody foresaw')) bugs.push(line);
  };
  const runtime: Runtime = {
    config,
    environment: {} as Runtime['environment'],
    clock: read,
    random: () => 0.5,
    randomBytes,
    sleep: async (ms) => {
      clock.now += ms;
    },
    fetch: (input, init) =>
      String(input).startsWith(sandbox.url) || !github ? fetch(input, init) : github(input, init),
    log: { info() {}, warn() {}, error: note },
    metrics: createMetrics('test', () => {}, read),
  };
  const context = () => {
    const deadline = clock.now + WORKER_TIMEOUT_MS;
    return { getRemainingTimeInMillis: () => deadline - clock.now, awsRequestId: '', functionName: '' };
  };
  const webhook = functions.webhook.createHandler(runtime, stores) as unknown as (
    event: object,
    context: object,
  ) => Promise<APIGatewayProxyStructuredResultV2>;
  const worker = functions.worker.createHandler(runtime, stores) as unknown as SqsHandler;
  const sweep = functions.sweep.createHandler(runtime, stores) as unknown as (
    event: object,
    context: object,
  ) => Promise<unknown>;

  const world: World = {
    stores,
    bugs,
    async post(event) {
      const body = JSON.stringify(event);
      const headers = {
        'content-type': 'application/json',
        'x-github-event': 'issues',
        'x-github-delivery': randomUUID(),
        'x-hub-signature-256': githubSignature(body),
      };
      const { statusCode = 0, body: answer } = await webhook({ headers, body, isBase64Encoded: false }, context());
      if (statusCode !== 200 && statusCode !== 202) throw new Error(`the webhook answered ${statusCode}: ${answer}`);
    },
    async work() {
      for (const queue of queues) {
        for (let message = queue.receive(); message; message = queue.receive()) {
          await deliver(queue, message, (event) => worker(event, context()));
        }
      }
    },
    async workToTheEnd() {
      for (let turn = 0; ; turn++) {
        await world.work();
        const underWay = (await Promise.all(UNDER_WAY.map(world.jobs))).flat();
        if (underWay.length === 0) return;
        if (turn > 500) throw new Error(`${underWay[0]?.id} never ends: ${underWay[0]?.waitingFor}`);
        const wakeAt = Math.min(...queues.map((queue) => queue.nextWakeAt()), ...underWay.map((job) => job.wakeAt));
        clock.now = Math.max(clock.now + 1, wakeAt);
        await sweep({}, context());
      }
    },
    jobs: (status) => stores.jobs.list(status, { limit: 100 }),
  };
  return world;
}

function queueOver(queues: readonly FifoQueue[]): JobQueue {
  const named = (name: string) => queues.find((queue) => queue.name === name);
  return {
    async send({ id, generation, lane, entity }) {
      named(`${lane}.fifo`)?.send(JSON.stringify({ jobId: id, generation }), entity, `${id}:${generation}`);
    },
    async sleep(queueArn, receiptHandle, ms) {
      const name = queueArn.slice(queueArn.lastIndexOf(':') + 1);
      named(name)?.changeVisibility(receiptHandle, Math.ceil(Math.max(0, ms) / 1000));
    },
  };
}

function secretsOf(values: Readonly<Record<string, object>>): Secrets {
  const current = async <T>(name: string, schema: z.core.$ZodType<T>) => z.parse(schema, values[name] ?? {});
  return {
    current,
    async *accepted(name, schema) {
      yield await current(name, schema);
    },
    refresh: () => false,
  };
}
