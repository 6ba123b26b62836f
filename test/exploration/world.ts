import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { RelayConfig } from '../../lib/config/schema.ts';
import type { Job, JobStatus } from '../../lib/jobs/job.ts';
import { createMetrics } from '../../lib/metrics/metrics.ts';
import { openStores, type Runtime, type Stores, systemRuntime } from '../../lib/runtime.ts';
import { jobsByStatus, waitingLine } from '../../lib/table/keys.ts';
import { asSqsHandler, deliver } from '../../local/event-source.ts';
import { FifoQueue } from '../../local/fifo-queue.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { nextMoment } from '../next-moment.ts';
import { githubSignature, type TestClock, WEBHOOK_SECRET } from '../relay.ts';
import { connectAws } from '../simulation/aws-wire.ts';
import { DynamoDbModel } from '../simulation/dynamodb-model.ts';
import { VARIABLES } from '../simulation/world.ts';

const WORKER_TIMEOUT_MS = 60_000;
const VISIBILITY_TIMEOUT_MS = 90_000;
const UNDER_WAY: readonly JobStatus[] = ['queued', 'running', 'waiting'];

type ScheduledHandler = (event: object, context: object) => Promise<unknown>;
type HttpHandler = (event: object, context: object) => Promise<APIGatewayProxyStructuredResultV2>;

async function loadFunctions() {
  // Each function makes a handler of its own when it is loaded, from the environment. No world uses that one.
  Object.assign(process.env, VARIABLES);
  const [webhook, worker, sweep] = await Promise.all([
    import('../../functions/github-webhook.ts'),
    import('../../functions/job-worker.ts'),
    import('../../functions/job-sweep.ts'),
  ]);
  return { webhook, worker, sweep };
}

/** The relay's functions, with models of AWS in the memory of this process that answer at once. */
export interface World {
  stores: Stores;
  /** What was logged as a bug. */
  bugs: unknown[];
  /**
   * Begins with an empty table and empty queues.
   * @param github undefined: the secret has no credentials for GitHub
   */
  begin(github: typeof globalThis.fetch | undefined): void;
  post(event: object): Promise<void>;
  /** Delivers what the queues hold now, until nothing can be received. */
  work(): Promise<void>;
  /** Works, moves the clock to whatever comes next, sweeps, and so on until nothing is under way. */
  workToTheEnd(): Promise<void>;
  jobs(status: JobStatus): Promise<Job[]>;
  close(): void;
}

export async function createWorld(config: RelayConfig, sandbox: Sandbox, clock: TestClock): Promise<World> {
  const functions = await loadFunctions();
  const read = () => clock.now;
  const bugs: unknown[] = [];
  let queues: FifoQueue[] = [];
  let github: typeof globalThis.fetch | undefined;
  let disconnect = () => {};
  const runtime: Runtime = {
    ...systemRuntime(config, VARIABLES),
    clock: read,
    random: () => 0.5,
    sleep: async (ms) => {
      clock.now += ms;
    },
    fetch: (input, init) =>
      String(input).startsWith(sandbox.url) || !github ? fetch(input, init) : github(input, init),
    log: {
      info() {},
      warn() {},
      error(line: unknown) {
        if (JSON.stringify(line).includes('failed unexpectedly')) bugs.push(line);
      },
    },
    metrics: createMetrics('test', () => {}, read),
  };
  const stores = openStores(runtime);
  const webhook = functions.webhook.createHandler(runtime) as unknown as HttpHandler;
  const worker = asSqsHandler(functions.worker.createHandler(runtime));
  const sweep = functions.sweep.createHandler(runtime) as unknown as ScheduledHandler;
  const context = () => {
    const deadline = clock.now + WORKER_TIMEOUT_MS;
    return { getRemainingTimeInMillis: () => deadline - clock.now, awsRequestId: '', functionName: '' };
  };

  const world: World = {
    stores,
    bugs,
    begin(githubApi) {
      github = githubApi;
      bugs.length = 0;
      queues = ['interactive.fifo', 'background.fifo'].map(
        (name) => new FifoQueue(name, read, { visibilityTimeoutMs: VISIBILITY_TIMEOUT_MS }),
      );
      const secrets = {
        'github-webhook': { webhookSecret: WEBHOOK_SECRET },
        github: { ...(github && { token: 'ghp_test' }) },
        'partner/main': { baseUrl: sandbox.url, ...sandbox.keys[0] },
      };
      disconnect = connectAws(
        {
          table: new DynamoDbModel([jobsByStatus, waitingLine], (_key, apply) => apply()),
          queues: new Map(queues.map((queue) => [queue.name, queue])),
          secrets: new Map(
            Object.entries(secrets).map(([name, secret]) => [VARIABLES.SECRET_PREFIX + name, JSON.stringify(secret)]),
          ),
        },
        async (answer) => answer(),
      );
    },
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
        clock.now = nextMoment(clock.now, queues, underWay);
        await sweep({}, context());
      }
    },
    jobs: (status) => stores.jobs.list(status, { limit: 100 }),
    close: () => disconnect(),
  };
  return world;
}
