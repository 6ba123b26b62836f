import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { COMPLETE_CHECKLIST_ITEM } from '../../lib/automations/complete-checklist-item.ts';
import type { Lane } from '../../lib/budget/lanes.ts';
import { defineConfig, type RelayConfig } from '../../lib/config/schema.ts';
import { jobId } from '../../lib/jobs/job.ts';
import { jobMessage } from '../../lib/jobs/queue.ts';
import { createMetrics } from '../../lib/metrics/metrics.ts';
import { openStores, type Runtime, type Stores, systemRuntime } from '../../lib/runtime.ts';
import { jobsByStatus, waitingLine } from '../../lib/table/keys.ts';
import { seededRandom, VirtualTime } from '../budget/virtual-time.ts';
import { connectAws } from './aws-wire.ts';
import { DynamoDbModel, type Units } from './dynamodb-model.ts';
import { channelOf, doneCommand, openedIssue, repositoryOf, SIGNING_SECRET, WEBHOOK_SECRET } from './events.ts';
import type { Attributes } from './expressions.ts';
import { FifoQueueModel } from './fifo-queue-model.ts';
import { hostOf, SECRET_KEY, Service, type ServiceCall, type ServiceOptions } from './service.ts';
import { SlackStub, type Told } from './slack-stub.ts';

/** An event: `background` is a new issue in GitHub, `interactive` a command of a person in Slack. */
export interface Arrival {
  connection: string;
  lane: Lane;
  /** Since the start. */
  atMs: number;
}

export interface Workload extends Omit<ServiceOptions, 'down'> {
  seed: number;
  connections: readonly string[];
  /** So many messages of each lane are worked on at a time. */
  workers: Record<Lane, number>;
  arrivals: readonly Arrival[];
  runsMs: number;
  /** When connections are refused; milliseconds since the start. */
  down?: { fromMs: number; untilMs: number };
  /** Makes what is in the table at the start. */
  prepare?: (stores: Stores, startsAt: number) => Promise<void>;
}

/** What became of a call. Milliseconds since the start. */
export interface Call extends ServiceCall {
  lane: Lane;
  /** When the event of its job came. */
  wantedAt: number;
}

export interface Result {
  calls: Call[];
  /** By what the key begins with, and by index for reads. */
  units: ReadonlyMap<string, Units>;
  receives: Record<Lane, number>;
  deadLetters: string[];
  /** When each run of the sweep began, and how long it took; milliseconds. */
  sweeps: { at: number; tookMs: number; swept: number }[];
  /** The longest run of a worker. */
  longestRunMs: number;
  /** How many jobs have each status at the end. */
  jobs: Record<string, number>;
  /** Why jobs wait or are parked at the end, without what tells one job from another; and how many. */
  reasons: Map<string, number>;
  /** What the functions threw or logged as an error; the first of each kind, and how often. */
  errors: Map<string, number>;
  told: Told[];
}

/** Not on a boundary of any calendar window. */
const START = Date.UTC(2026, 10, 20, 10, 0, 17);
const MINUTE = 60_000;
/** As infra/job-queue.ts and infra/job-worker.ts deploy them. */
const WORKER_TIMEOUT_MS = 60_000;
const QUEUE = { visibilityTimeoutMs: 90_000, maxReceiveCount: 100, pollMs: [5, 30], lateMs: 3_000 } as const;
/** Workers' clocks are wrong by up to this, in either direction. */
const CLOCK_ERROR_MS = 500;
/** An index lags behind the table by up to this. */
const INDEX_LAG_MS = 1_000;
/** People who give commands; of one person's commands each has another item. */
const PEOPLE = 50;
const LANES = ['interactive', 'background'] as const;

const VARIABLES = {
  AWS_REGION: 'local',
  STAGE: 'simulation',
  TABLE_NAME: 'state',
  INTERACTIVE_QUEUE_URL: 'https://sqs.local/000000000000/interactive.fifo',
  BACKGROUND_QUEUE_URL: 'https://sqs.local/000000000000/background.fifo',
  SECRET_PREFIX: 'simulation/',
};

type HttpHandler = (event: APIGatewayProxyEventV2) => Promise<APIGatewayProxyStructuredResultV2>;

/** Runs a workload through the functions' exported handlers, with models of AWS, the service and Slack around them. */
export async function simulate(load: Workload): Promise<Result> {
  // The functions read them as soon as they are loaded.
  Object.assign(process.env, VARIABLES);
  const [worker, sweep, githubWebhook, slackWebhook] = await Promise.all([
    import('../../functions/job-worker.ts'),
    import('../../functions/job-sweep.ts'),
    import('../../functions/github-webhook.ts'),
    import('../../functions/slack-webhook.ts'),
  ]);
  const time = new VirtualTime(START);
  const random = seededRandom(load.seed);
  const config = configOf(load);
  const table = new DynamoDbModel([jobsByStatus, waitingLine], lagging(time, random));
  const queues = {
    interactive: new FifoQueueModel('interactive.fifo', QUEUE, time, random),
    background: new FifoQueueModel('background.fifo', QUEUE, time, random),
  };
  const { down, ...behaviour } = load;
  const refusing = down && { from: START + down.fromMs, until: START + down.untilMs };
  const service = new Service({ ...behaviour, ...(refusing && { down: refusing }) }, time, random);
  const slack = new SlackStub(time, random);
  const wantedAt = new Map<string, { lane: Lane; at: number }>();
  const sweeps: Result['sweeps'] = [];
  const errors = new Map<string, number>();
  let longestRunMs = 0;
  const note = (error: unknown) => {
    const text = (error instanceof Error ? (error.stack ?? String(error)) : JSON.stringify(error)).slice(0, 600);
    const known = [...errors.keys()].find((one) => one.slice(0, 60) === text.slice(0, 60)) ?? text;
    errors.set(known, (errors.get(known) ?? 0) + 1);
  };

  /** A process of a function: with a clock of its own, and the job that it works on. */
  function startProcess(): { runtime: Runtime; work: { jobId: string } } {
    const work = { jobId: '' };
    const clockError = (2 * random() - 1) * CLOCK_ERROR_MS;
    const clock = () => Math.floor(time.now + clockError);
    const runtime: Runtime = {
      ...systemRuntime(config, VARIABLES),
      clock,
      random,
      randomBytes: (size) => Uint8Array.from({ length: size }, () => Math.floor(random() * 256)),
      sleep: (ms) => time.sleep(ms),
      fetch: async (input, init) => {
        const url = new URL(String(input));
        const body = String(init?.body ?? '');
        if (url.hostname.endsWith('slack.com')) return slack.fetch(url, body);
        return service.fetch(url, { headers: new Headers(init?.headers), body }, work.jobId);
      },
      log: { info() {}, warn() {}, error: note },
      metrics: createMetrics(VARIABLES.STAGE, () => {}, clock),
    };
    return { runtime, work };
  }

  function startWorker(lane: Lane): void {
    const { runtime, work } = startProcess();
    const handle = worker.createHandler(runtime);
    const queue = queues[lane];
    void (async () => {
      for (;;) {
        const { messageId, receiptHandle, body, receives } = await queue.receive();
        const began = time.now;
        work.jobId = jobMessage.parse(JSON.parse(body)).jobId;
        const record = {
          ...{ messageId, receiptHandle, body, messageAttributes: {}, md5OfBody: '' },
          attributes: {
            ApproximateReceiveCount: String(receives),
            SentTimestamp: '',
            SenderId: '',
            ApproximateFirstReceiveTimestamp: '',
          },
          eventSource: 'aws:sqs',
          eventSourceARN: `arn:aws:sqs:local:000000000000:${queue.name}`,
          awsRegion: 'local',
        };
        try {
          const answer = await handle({ Records: [record] }, contextOf(began + WORKER_TIMEOUT_MS));
          await time.sleep(5 + 10 * random());
          if (!answer || answer.batchItemFailures.length === 0) queue.delete(receiptHandle);
        } catch (error) {
          note(error);
        }
        longestRunMs = Math.max(longestRunMs, time.now - began);
      }
    })();
  }

  const contextOf = (deadline: number) =>
    ({ getRemainingTimeInMillis: () => deadline - time.now, awsRequestId: '', functionName: '' }) as never;

  function startSweep(): void {
    const handle = sweep.createHandler(startProcess().runtime);
    void (async () => {
      await time.sleep(random() * MINUTE);
      for (let next = time.now; ; next += MINUTE) {
        await time.sleep(next - time.now);
        void run();
      }
    })();
    async function run(): Promise<void> {
      const began = time.now;
      try {
        const { swept } = await handle({}, contextOf(began + 55_000));
        sweeps.push({ at: began - START, tookMs: time.now - began, swept });
      } catch (error) {
        note(error);
      }
    }
  }

  async function bring(): Promise<void> {
    const issues = githubWebhook.createHandler(startProcess().runtime) as unknown as HttpHandler;
    const commands = slackWebhook.createHandler(startProcess().runtime) as unknown as HttpHandler;
    const inOrder = [...load.arrivals].sort((a, b) => a.atMs - b.atMs);
    for (const [index, { connection, lane, atMs }] of inOrder.entries()) {
      if (START + atMs > time.now) await time.sleep(START + atMs - time.now);
      void (lane === 'background' ? openIssue(connection, index) : giveCommand(connection, index)).catch(note);
    }

    async function openIssue(connection: string, index: number): Promise<void> {
      const at = time.now;
      const { statusCode, body } = await issues(openedIssue(connection, index + 1, at));
      if (statusCode !== 202) throw new Error(`the webhook answered ${statusCode}: ${body}`);
      for (const id of (JSON.parse(body ?? '') as { jobs: string[] }).jobs)
        wantedAt.set(id, { lane: 'background', at });
    }

    async function giveCommand(connection: string, index: number): Promise<void> {
      const triggerId = `trigger-${index}`;
      const command = {
        userId: `U0P${index % PEOPLE}`,
        item: 101 + index,
        triggerId,
        responseUrl: `https://hooks.slack.com/commands/${index}`,
      };
      wantedAt.set(jobId(COMPLETE_CHECKLIST_ITEM, triggerId), { lane: 'interactive', at: time.now });
      const { statusCode, body } = await commands(doneCommand(connection, command, time.now));
      if (statusCode !== 200) throw new Error(`the Slack webhook answered ${statusCode}: ${body}`);
    }
  }

  const secrets = new Map(
    Object.entries({
      github: { webhookSecret: WEBHOOK_SECRET },
      slack: { signingSecret: SIGNING_SECRET, botToken: 'xoxb-simulation' },
      ...Object.fromEntries(
        load.connections.map((name) => [
          `partner/${name}`,
          { baseUrl: hostOf(name), apiKey: 'pk_simulation', secretKey: SECRET_KEY },
        ]),
      ),
    }).map(([name, secret]) => [VARIABLES.SECRET_PREFIX + name, JSON.stringify(secret)]),
  );
  const byName = new Map(Object.values(queues).map((queue) => [queue.name, queue]));
  const disconnect = connectAws({ table, queues: byName, secrets }, time, random);
  try {
    for (const lane of LANES) for (let count = 0; count < load.workers[lane]; count++) startWorker(lane);
    startSweep();
    void bring();
    void load.prepare?.(openStores(startProcess().runtime), START).catch(note);
    await time.passUntil(START + load.runsMs);
  } finally {
    disconnect();
  }
  return {
    calls: service.calls.map((call) => sinceStart(call, wantedAt)),
    units: table.units,
    receives: { interactive: queues.interactive.receives, background: queues.background.receives },
    deadLetters: [...queues.interactive.deadLetters, ...queues.background.deadLetters],
    sweeps,
    longestRunMs,
    ...endOf(table.items()),
    errors,
    told: slack.told.map((told) => ({ ...told, at: told.at - START })),
  };
}

function configOf({ connections, limits }: Workload): RelayConfig {
  return defineConfig({
    connections: Object.fromEntries(connections.map((name) => [name, { limits }])),
    github: {
      repositories: connections.map((connection) => ({
        name: repositoryOf(connection),
        connection,
        issueToDefect: { projectId: '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01', comment: false },
      })),
    },
    slack: {
      connection: connections[0] ?? '',
      channels: Object.fromEntries(connections.map((connection) => [channelOf(connection), { connection }])),
    },
  });
}

/** What has become of the jobs. */
function endOf(items: Iterable<Attributes>): Pick<Result, 'jobs' | 'reasons'> {
  const jobs: Record<string, number> = {};
  const reasons: Result['reasons'] = new Map();
  for (const { sk, status, waitingFor, parked } of items) {
    if (sk?.S !== 'job' || status?.S === undefined) continue;
    jobs[status.S] = (jobs[status.S] ?? 0) + 1;
    const why = parked?.M?.reason?.S ?? waitingFor?.S;
    if (why === undefined) continue;
    const reason = `${status.S}: ${why.replaceAll(/[\da-f]{8,}|\d{4}-\S+/g, '…')}`;
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  return { jobs, reasons };
}

/** Carries out index writes late, and those of one key in their order. */
function lagging(time: VirtualTime, random: () => number): (key: string, apply: () => void) => void {
  const lastAt = new Map<string, number>();
  return (key, apply) => {
    const at = Math.max(lastAt.get(key) ?? 0, time.now + random() * INDEX_LAG_MS);
    lastAt.set(key, at);
    void time.sleep(at - time.now).then(apply);
  };
}

function sinceStart(call: ServiceCall, wantedAt: ReadonlyMap<string, { lane: Lane; at: number }>): Call {
  const wanted = wantedAt.get(call.jobId);
  if (!wanted) throw new Error(`the job ${call.jobId} of a call of ${call.operation} is not known`);
  const { countedAt, answeredAt } = call;
  return {
    ...call,
    lane: wanted.lane,
    wantedAt: wanted.at - START,
    sentAt: call.sentAt - START,
    ...(countedAt !== undefined && { countedAt: countedAt - START }),
    ...(answeredAt !== undefined && { answeredAt: answeredAt - START }),
  };
}
