import { PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { createContext } from '../../lib/automations/context.ts';
import { LEAST_WORKERS } from '../../lib/config/capacity.ts';
import type { QueueName } from '../../lib/config/queues.ts';
import { defineConfig, type RelayConfig } from '../../lib/config/schema.ts';
import { openWaitingLines } from '../../lib/engine/line/waiting-line.ts';
import { repositoryToBackfill, storeBackfill } from '../../lib/operators/backfill.ts';
import { openStores, type Stores } from '../../lib/runtime.ts';
import type { Limits } from '../../lib/service/budget/window.ts';
import { jobsByStatus, waitingLine } from '../../lib/state/table/keys.ts';
import { createGithubStandIn } from '../../local/github/stand-in.ts';
import { LocalSecrets } from '../../local/local-secrets.ts';
import { withSlackAt } from '../../local/local-slack.ts';
import { createSlackStandIn } from '../../local/slack/stand-in.ts';
import { connectAws } from '../../local/world/aws.ts';
import { DynamoDbModel, type Units } from '../../local/world/dynamodb-model.ts';
import type { Attributes } from '../../local/world/expressions.ts';
import { stopTimers } from '../hosts.ts';
import { withLimits } from '../relay.ts';
import { SIGNING_SECRET, WEBHOOK_SECRET } from '../requests.ts';
import { seededRandom, VirtualTime } from '../service/budget/virtual-time.ts';
import { type Arrival, bring, type Wanted } from './arrivals.ts';
import { type AwsTrouble, inTrouble } from './aws-troubles.ts';
import { channelOf, issueOf, repositoryOf } from './events.ts';
import { runSweeps, runWorker, type Sweep, type WorkerRun } from './lambda-model.ts';
import { LineWatch, type Stranded } from './line-watch.ts';
import { PolledQueue } from './polled-queue.ts';
import { hostOf, KEY, Service, type ServiceCall, type ServiceOptions } from './service.ts';
import { type MetricValue, noteAwsMetric, noteError, startProcess, VARIABLES, type World } from './world.ts';

export interface Workload extends Omit<ServiceOptions, 'down' | 'limitedFor'> {
  seed: number;
  connections: readonly string[];
  /** The number of messages of each lane that are worked on at once. */
  workers: Record<QueueName, number>;
  arrivals: readonly Arrival[];
  /** The number of issues in the first connection's repository for a backfill at the start. */
  backfill?: number;
  runsMs: number;
  /** Whether Lambda stops apparent loops, as without `RecursiveLoop: Allow`. */
  stopsLoops?: boolean;
  /** How far one background worker's clock is ahead, or behind if negative. */
  wrongClockMs?: number;
  /** When connections are refused; milliseconds since the start. */
  down?: { fromMs: number; untilMs: number };
  /** When calls get a 429; milliseconds since the start. */
  limitedFor?: { fromMs: number; untilMs: number; retryAfterSeconds: number };
  /** AWS's troubles, and their times; milliseconds since the start. */
  aws?: { trouble: AwsTrouble; fromMs: number; untilMs: number };
  /** Whether the schedule of the sweep is off. */
  withoutSweep?: boolean;
  /** Creates the table's items at the start. */
  prepare?: (stores: Stores, startsAt: number) => Promise<void>;
}

/** The outcome of a call. */
export interface Call extends ServiceCall {
  lane: QueueName | 'backfill';
  /** The person who gave the command. */
  person?: string;
  /** When the job's event came. */
  wantedAt: number;
}

/** The result of a simulation. Times are milliseconds since the start. */
export interface Result {
  calls: Call[];
  /** By the beginning of the key, and for reads by index. */
  units: ReadonlyMap<string, Units>;
  receives: Record<QueueName, number>;
  deadLetters: string[];
  sweeps: Sweep[];
  /** The longest run of a worker. */
  longestRunMs: number;
  /** The total time of the workers' runs. */
  runsMs: number;
  /** The longest chain of invocations in which each sent the next one's message. */
  mostRounds: number;
  /** When a line with jobs had no job on its way to a worker. */
  stranded: Stranded[];
  /** The final number of jobs of each status. */
  jobs: Record<string, number>;
  /**
   * The reasons of waiting or parked jobs at the end, without the parts that differ between jobs, with their numbers.
   */
  reasons: Map<string, number>;
  /** Errors that functions threw or logged: the first of each kind, with its number. */
  errors: ReadonlyMap<string, number>;
  /** The functions' metrics, and for every minute the age of each queue's oldest message. */
  metrics: MetricValue[];
}

/** Not on a boundary of any calendar window. */
const START = Date.UTC(2026, 10, 20, 10, 0, 17);
/** The most by which an index lags behind the table. */
const INDEX_LAG_MS = 1_000;

/** About one lost answer a minute, so that the figures are those of a normal day. */
const LOSES_ONE_IN = 2_000;

/** Higher than the number of any event of the simulation. */
const FIRST_NUMBER = 1_000_000;
const BOT_TOKEN = 'xoxb-simulation';

/** The round trip of a request to AWS, in milliseconds. */
const TRIP_MS = [5, 15] as const;

const FUNCTIONS = ['job-worker', 'job-sweep', 'github-webhook', 'slack-webhook'];

/** Runs a workload through the functions' exported handlers, with models of AWS, the service and Slack around them. */
export async function simulate(load: Workload): Promise<Result> {
  // The functions read these variables when they are loaded.
  Object.assign(process.env, VARIABLES);
  // Otherwise, virtual time would pass while a function is loaded.
  await Promise.all(FUNCTIONS.map((slug) => import(`../../functions/${slug}.ts`)));
  const world = worldOf(load);
  const { time, random, service } = world;
  const table = new DynamoDbModel([jobsByStatus, waitingLine], lagging(time, random));
  const queues = {
    interactive: new PolledQueue('interactive.fifo', time, random),
    background: new PolledQueue('background.fifo', time, random),
  };
  const sweeps: Sweep[] = [];
  const longest = { tookMs: 0, rounds: 0 };
  let runsMs = 0;
  const lines = new LineWatch(load.limits, (key) => table.read(key));
  const ended = ({ tookMs, rounds, jobId }: WorkerRun) => {
    lines.runEnded(jobId, time.now, time.now - START);
    runsMs += tookMs;
    longest.tookMs = Math.max(longest.tookMs, tookMs);
    longest.rounds = Math.max(longest.rounds, rounds);
  };
  const models = {
    table: watched(table, lines),
    queues: Object.values(queues),
    secrets: secretsOf(load),
    clock: () => time.now,
  };
  const carry = inTrouble({
    losesOneIn: LOSES_ONE_IN,
    travel: travelling(time, random),
    trouble: () => troubleAt(load, time.now),
    sleep: (ms: number) => time.sleep(ms),
    throttled: (operation: string, times: number) =>
      noteAwsMetric(world, 'DynamoDB', 'ThrottledRequests', times, operation),
  });
  const disconnect = connectAws(VARIABLES.TABLE_NAME, models, carry);
  const restoreTimers = stopTimers();
  try {
    for (const lane of ['interactive', 'background'] as const) {
      for (let count = 0; count < load.workers[lane]; count++) {
        const aheadMs = lane === 'background' && count === 0 ? load.wrongClockMs : undefined;
        const how = { stopsLoops: load.stopsLoops ?? false, aheadMs: aheadMs ?? 0 };
        void runWorker(queues[lane], world, how, ended);
      }
    }
    void watchQueues(Object.values(queues), world);
    if (!load.withoutSweep) void runSweeps(world, (run) => sweeps.push({ ...run, at: run.at - START }));
    const wanted = bring(load.arrivals, world);
    const prepared = load.prepare?.(openStores(startProcess(world).runtime), START);
    prepared?.catch((error) => noteError(world, error));
    if (load.backfill)
      void backfill(world, load.connections[0] ?? '', load.limits).catch((error) => noteError(world, error));
    await time.passUntil(START + load.runsMs);
    return {
      calls: service.calls.map((call) => sinceStart(call, wanted, load.backfill !== undefined)),
      units: table.units,
      receives: { interactive: queues.interactive.receives, background: queues.background.receives },
      deadLetters: [...queues.interactive.deadLetters, ...queues.background.deadLetters],
      sweeps,
      longestRunMs: longest.tookMs,
      runsMs,
      mostRounds: longest.rounds,
      stranded: lines.stranded,
      ...endOf(table.items()),
      errors: world.errors,
      metrics: world.metrics.map((metric) => ({ ...metric, at: metric.at - START })),
    };
  } finally {
    restoreTimers();
    disconnect();
  }
}

function worldOf(load: Workload): World {
  const time = new VirtualTime(START);
  const random = seededRandom(load.seed);
  const clock = () => Math.floor(time.now);
  const slack = createSlackStandIn({ clock, botToken: BOT_TOKEN }, 'https://slack.example');
  const { down, limitedFor, ...behaviour } = load;
  const refusing = down && { from: START + down.fromMs, until: START + down.untilMs };
  const limiting = limitedFor && {
    from: START + limitedFor.fromMs,
    until: START + limitedFor.untilMs,
    retryAfterSeconds: limitedFor.retryAfterSeconds,
  };
  return {
    time,
    random,
    config: withSlackAt({ standIn: slack.slack }, configOf(load)),
    service: new Service(
      { ...behaviour, ...(refusing && { down: refusing }), ...(limiting && { limitedFor: limiting }) },
      time,
      random,
    ),
    slack,
    github: githubOf(load, clock),
    errors: new Map(),
    metrics: [],
  };
}

/** GitHub, with the issues of the backfill: one a second until the start. */
function githubOf({ backfill = 0, connections: [connection = ''] }: Workload, clock: () => number) {
  const options = { clock, isValid: () => true, installationToken: '' };
  const github = createGithubStandIn(options, 'https://api.github.com');
  const repository = repositoryOf(connection);
  for (let place = 0; place < backfill; place++) {
    const number = FIRST_NUMBER + place;
    github.known.issues.set(`${repository}#${number}`, issueOf(repository, number, START - (backfill - place) * 1_000));
  }
  return github;
}

/** Records the queues' metrics every minute, as SQS does. */
async function watchQueues(queues: readonly PolledQueue[], world: World): Promise<void> {
  for (;;) {
    await world.time.sleep(60_000);
    for (const queue of queues) {
      noteAwsMetric(world, 'SQS', 'ApproximateAgeOfOldestMessage', queue.oldestMs() / 1_000, queue.name);
      const dead = queue.deadLetters.length;
      noteAwsMetric(world, 'SQS', 'ApproximateNumberOfMessagesVisible', dead, `${queue.name} dead letters`);
    }
  }
}

function troubleAt({ aws }: Workload, now: number): AwsTrouble | undefined {
  return aws && now >= START + aws.fromMs && now < START + aws.untilMs ? aws.trouble : undefined;
}

/** Backfills as `partner-relay backfill --go` does. */
async function backfill(world: World, connection: string, limits: Limits): Promise<void> {
  const { runtime } = startProcess(world);
  const stores = openStores(runtime);
  const { random } = runtime;
  const context = createContext(runtime, stores);
  const repository = repositoryToBackfill(runtime.config, repositoryOf(connection));
  const sleep = (ms: number) => world.time.sleep(ms);
  const lines = openWaitingLines(stores, { random, sleep });
  await storeBackfill(repository, { state: 'open' }, context, { comment: false, limits, lines, sleep });
}

function secretsOf({ connections, backfill }: Workload): LocalSecrets {
  const secrets = {
    'github-webhook': { webhookSecret: WEBHOOK_SECRET },
    github: backfill === undefined ? {} : { token: 'ghp_simulation' },
    slack: { signingSecret: SIGNING_SECRET, botToken: BOT_TOKEN },
    markers: { key: 'a key of the simulation, long enough for it' },
    ...Object.fromEntries(connections.map((name) => [`partner/${name}`, { baseUrl: hostOf(name), ...KEY }])),
  };
  const kept = new LocalSecrets(() => 0);
  for (const [name, secret] of Object.entries(secrets)) kept.put(VARIABLES.SECRET_PREFIX + name, secret);
  return kept;
}

/**
 * The configuration of the workload's team. @param workload by default, the connections decide about the number of
 * workers
 */
export function configOf({
  connections,
  limits,
  workers,
}: Pick<Workload, 'connections' | 'limits'> & Partial<Workload>): RelayConfig {
  const config = defineConfig({
    ...(workers && { deployment: { maxConcurrency: { background: Math.max(workers.background, LEAST_WORKERS) } } }),
    connections: Object.fromEntries(connections.map((name) => [name, {}])),
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
  return withLimits(config, limits);
}

/** The jobs at the end. */
function endOf(items: Iterable<Attributes>): Pick<Result, 'jobs' | 'reasons'> {
  const jobs: Record<string, number> = {};
  const reasons: Result['reasons'] = new Map();
  for (const { sk, status, waits, parked } of items) {
    if (sk?.S !== 'job' || status?.S === undefined) continue;
    jobs[status.S] = (jobs[status.S] ?? 0) + 1;
    const why = parked?.M?.reason?.S ?? (status.S === 'waiting' ? waits?.M?.newest?.L?.at(-1)?.M?.why?.S : undefined);
    if (why === undefined) continue;
    const reason = `${status.S}: ${why.replaceAll(/[\da-f]{8,}|\d{4}-\S+/g, '…')}`;
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  return { jobs, reasons };
}

/** The table. It passes written records to the watch. */
function watched(table: DynamoDbModel, lines: LineWatch): Pick<DynamoDbModel, 'answer'> {
  return {
    answer(command) {
      const answer = table.answer(command);
      if (command instanceof PutItemCommand) lines.wrote(command.input.Item ?? {});
      if (command instanceof UpdateItemCommand) lines.wrote((answer as { Attributes?: Attributes }).Attributes ?? {});
      return answer;
    },
  };
}

/** Half of a request's trip is before its effect, and half after it. */
function travelling(time: VirtualTime, random: () => number) {
  return async (answer: () => object): Promise<object> => {
    const [from, to] = TRIP_MS;
    const trip = from + random() * (to - from);
    await time.sleep(trip / 2);
    try {
      return answer();
    } finally {
      await time.sleep(trip / 2);
    }
  };
}

/** Carries out index writes late; the writes of one key keep their order. */
function lagging(time: VirtualTime, random: () => number): (key: string, apply: () => void) => void {
  const lastAt = new Map<string, number>();
  return (key, apply) => {
    const at = Math.max(lastAt.get(key) ?? 0, time.now + random() * INDEX_LAG_MS);
    lastAt.set(key, at);
    void time.sleep(at - time.now).then(apply);
  };
}

/** The issues of a backfill exist from the start. */
const OF_BACKFILL: { lane: 'backfill'; at: number; person?: string } = { lane: 'backfill', at: START };

function sinceStart(call: ServiceCall, wanted: Wanted, hasBackfill: boolean): Call {
  const event = wanted.get(call.jobId) ?? (hasBackfill ? OF_BACKFILL : undefined);
  if (!event) throw new Error(`the job ${call.jobId} of a call of ${call.operation} is not known`);
  const { countedAt, answeredAt } = call;
  return {
    ...call,
    lane: event.lane,
    ...(event.person !== undefined && { person: event.person }),
    wantedAt: event.at - START,
    sentAt: call.sentAt - START,
    ...(countedAt !== undefined && { countedAt: countedAt - START }),
    ...(answeredAt !== undefined && { answeredAt: answeredAt - START }),
  };
}
