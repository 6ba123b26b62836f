import { randomUUID } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { SQSEvent } from 'aws-lambda';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { type Job, type JobStatus, newsOf } from '../../lib/engine/record/job.ts';
import { openStores, type Runtime, type Stores, systemRuntime } from '../../lib/runtime.ts';
import { createMetrics } from '../../lib/state/metrics/metrics.ts';
import { jobsByStatus, waitingLine } from '../../lib/state/table/keys.ts';
import type { Item } from '../../lib/state/table/table.ts';
import { asSqsHandler, deliver, type SqsHandler } from '../../local/event-source.ts';
import { FifoQueue, type ReceivedMessage } from '../../local/fifo-queue.ts';
import { asHttpHandler, functionUrlEvent, type HttpHandler } from '../../local/http-front.ts';
import { asScheduledHandler, type ScheduledHandler } from '../../local/schedules.ts';
import { defaultKey } from '../../sandbox/sandbox.ts';
import { newKeys } from '../github-identity.ts';
import { exampleConfig, githubSignature, SIGNING_SECRET, WEBHOOK_SECRET } from '../relay.ts';
import { connectAws } from '../simulation/aws-wire.ts';
import { DynamoDbModel } from '../simulation/dynamodb-model.ts';
import type { Attributes } from '../simulation/expressions.ts';
import { VARIABLES } from '../simulation/world.ts';
import { VirtualClock } from './clock.ts';
import { type Delivery, Github, REPOSITORIES, WORKFLOWS } from './github.ts';
import { AWS_FAILED, Process, type State, type Trouble } from './process.ts';
import { type Limits, SERVICE_URL, Service } from './service.ts';
import { Slack, type Typed } from './slack.ts';

const { privateKey } = newKeys();
const MINUTE_MS = 60_000;
const WORKER_TIMEOUT_MS = 60_000;
const VISIBILITY_TIMEOUT_MS = 90_000;
const REPLY_TIMEOUT_MS = 20_000;
const UNDER_WAY: readonly JobStatus[] = ['queued', 'running', 'waiting'];

/** The relay's functions in one process, with a clock of their own. */
interface Host {
  runtime: Runtime;
  stores: Stores;
  webhook: HttpHandler;
  slackWebhook: HttpHandler;
  worker: SqsHandler;
  sweep: ScheduledHandler;
}

async function loadFunctions() {
  // Each function makes a handler of its own when it is loaded, from the environment. No world uses that one.
  Object.assign(process.env, VARIABLES);
  const [webhook, slackWebhook, worker, sweep] = await Promise.all([
    import('../../functions/github-webhook.ts'),
    import('../../functions/slack-webhook.ts'),
    import('../../functions/job-worker.ts'),
    import('../../functions/job-sweep.ts'),
  ]);
  return { webhook, slackWebhook, worker, sweep };
}

type Functions = Awaited<ReturnType<typeof loadFunctions>>;

/** The hosts' clocks are wrong by this. */
const CLOCK_ERRORS_MS = [0, 400, -400];

/**
 * The relay, with models of AWS, of the service and of GitHub in the memory of this process that answer at once. One
 * process runs at a time; the others have ended, died, or stand still.
 */
export class World {
  readonly clock = new VirtualClock(Date.parse('2026-11-20T10:00:00Z'));
  readonly github = new Github(this.clock);
  readonly service: Service;
  readonly slack = new Slack(this.clock);
  /** What was logged as a bug. */
  readonly bugs: string[] = [];
  readonly queues: readonly FifoQueue[];
  /** Every message that was received. */
  readonly #received: { queue: FifoQueue; body: string }[] = [];
  readonly stalled: Process[] = [];
  /** Reads of the test, which nothing befalls. */
  readonly stores: Stores;
  readonly config: RelayConfig;
  readonly #functions: Functions;
  readonly #table: DynamoDbModel;
  /** What {@link items} has read: each write of an item makes it new. */
  readonly #read = new WeakMap<Attributes, Item>();
  /** Writes of the indexes that lag behind the table. */
  #lagging: (() => void)[] = [];
  #hosts = 0;
  readonly #idle: Host[] = [];
  readonly #disconnect: () => void;
  #bytes = 0;

  static async start(limits: Limits): Promise<World> {
    return new World(limits, await loadFunctions());
  }

  private constructor(limits: Limits, functions: Functions) {
    const { perMinute, perDay } = limits;
    const connection = { limits: { perMinute, perDay } };
    this.config = exampleConfig(
      { comment: false },
      {
        connection,
        also: [REPOSITORIES[1]],
        checkPullRequest: {},
        tests: {
          workflows: [...WORKFLOWS],
          artifacts: ['junit'],
          branches: ['master'],
          status: { passed: 'passed', failed: 'failed' },
        },
      },
    );
    this.service = new Service(this.clock, limits);
    this.#functions = functions;
    const read = () => this.clock.now;
    this.queues = ['interactive.fifo', 'background.fifo'].map(
      (name) => new FifoQueue(name, read, { visibilityTimeoutMs: VISIBILITY_TIMEOUT_MS }),
    );
    this.#table = new DynamoDbModel([jobsByStatus, waitingLine], (_key, apply) => this.#lagging.push(apply));
    const secrets = {
      'github-webhook': { webhookSecret: WEBHOOK_SECRET },
      github: { token: 'ghp_test', appId: '12', privateKey },
      slack: { signingSecret: SIGNING_SECRET, botToken: 'xoxb-test' },
      'partner/main': { baseUrl: SERVICE_URL, ...defaultKey },
      grants: { key: 'a key of the tests, long enough for it' },
      markers: { key: 'another key of the tests, long enough' },
    };
    this.#disconnect = connectAws(
      {
        table: this.#table,
        losesOneIn: 7,
        clock: read,
        queues: new Map(this.queues.map((queue) => [queue.name, queue])),
        secrets: new Map(
          Object.entries(secrets).map(([name, secret]) => [VARIABLES.SECRET_PREFIX + name, JSON.stringify(secret)]),
        ),
      },
      (answer) => Process.pass(async () => answer(), true),
    );
    this.stores = openStores(this.#runtime(0));
  }

  close(): void {
    this.#disconnect();
  }

  /** What the table holds. */
  items(): Item[] {
    return [...this.#table.items()].map((attributes) => {
      const item = this.#read.get(attributes) ?? unmarshall(attributes);
      this.#read.set(attributes, item);
      return item;
    });
  }

  jobs(): Job[] {
    return this.items().flatMap((item) => (item.sk === 'job' ? [item as Item & Job] : []));
  }

  /** Lets the indexes catch up. */
  catchUp(): void {
    for (const apply of this.#lagging.splice(0)) apply();
  }

  async pass(ms: number): Promise<void> {
    this.catchUp();
    await this.clock.pass(ms);
  }

  /** Runs something on a host that does nothing else. */
  async run(troubles: readonly Trouble[], act: (host: Host) => Promise<void>): Promise<State> {
    const host = this.#idle.pop() ?? this.#startHost();
    const run = new Process(troubles, (ms) => this.clock.pass(ms));
    const end = async () => {
      await act(host).catch((error: unknown) => void this.#failed(error));
      this.#idle.push(host);
    };
    return this.#note(run, run.start(end));
  }

  async resume(place: number): Promise<void> {
    const [run] = this.stalled.splice(place % this.stalled.length, 1);
    if (run) await this.#note(run, run.resume());
  }

  post(delivery: Delivery, troubles: readonly Trouble[] = []): Promise<State> {
    const body = JSON.stringify(delivery.payload);
    const headers = {
      'content-type': 'application/json',
      'x-github-event': delivery.event,
      'x-github-delivery': randomUUID(),
      'x-hub-signature-256': githubSignature(body),
    };
    delivery.wasSent = true;
    return this.run(troubles, async ({ webhook }) => {
      const { statusCode } = await webhook(posted('/github', headers, body));
      if (statusCode === 200 || statusCode === 202) delivery.isAccepted = true;
    });
  }

  command(typed: Typed, troubles: readonly Trouble[] = []): Promise<State> {
    const headers = this.slack.headers(typed.form);
    return this.run(troubles, async ({ slackWebhook }) => {
      const { body = '' } = await slackWebhook(posted('/slack', headers, typed.form));
      if (body.includes('Working on it')) typed.isAccepted = true;
    });
  }

  /** Delivers the next message of a queue. @returns false if there is none */
  async work(lane: number, troubles: readonly Trouble[] = []): Promise<boolean> {
    for (const queue of lane === 0 ? this.queues : this.queues.toReversed()) {
      const message = queue.receive();
      if (!message) continue;
      this.#received.push({ queue, body: message.body });
      await this.run(troubles, (host) => deliver(queue, message, (event) => this.#invoke(host, event)));
      return true;
    }
    return false;
  }

  /** Delivers a message once more. */
  async redrive(place: number): Promise<void> {
    const { queue, body } = this.#received.at(place % this.#received.length) ?? {};
    if (!queue || body === undefined) return;
    const message: ReceivedMessage = {
      messageId: randomUUID(),
      receiptHandle: '',
      body,
      receiveCount: 2,
      sentAt: this.clock.now,
    };
    await this.run([], (host) =>
      deliver({ name: queue.name, delete() {} }, message, (event) => this.#invoke(host, event)),
    );
  }

  sweep(troubles: readonly Trouble[] = []): Promise<State> {
    return this.run(troubles, async ({ sweep }) => void (await sweep({}, this.#context())));
  }

  /** Works, moves the clock to whatever comes next, sweeps, and so on until nothing is under way. */
  async workToTheEnd(untilParked = false): Promise<void> {
    for (let turn = 0; ; turn++) {
      while (await this.work(0));
      this.catchUp();
      if (untilParked && this.jobs().some(({ status }) => status === 'parked')) return;
      const underWay = this.jobs().filter(({ status }) => UNDER_WAY.includes(status));
      if (underWay.length === 0 && !this.clock.hasMore) return;
      if (turn > 300) throw new Error(`${underWay[0]?.id} never ends: ${underWay[0] && newsOf(underWay[0])}`);
      await this.pass(this.#untilNext(underWay));
      await this.sweep();
    }
  }

  /** How long it takes until a message wakes, or the sweep finds something to do; at most an hour. */
  #untilNext(underWay: readonly Job[]): number {
    const moments = [
      ...this.queues.map((queue) => queue.nextWakeAt()),
      ...underWay.map(({ line, wakeAt, expectedAt = 0 }) => (line === undefined ? wakeAt : expectedAt - MINUTE_MS)),
    ].filter((at) => at > this.clock.now);
    const next = moments.length > 0 ? Math.min(...moments) : this.clock.now + MINUTE_MS;
    // The hosts' clocks are behind.
    return Math.min(next + 500 - this.clock.now, 60 * MINUTE_MS);
  }

  #invoke(host: Host, event: SQSEvent): ReturnType<SqsHandler> {
    return host.worker(event, this.#context());
  }

  #context() {
    const deadline = this.clock.now + WORKER_TIMEOUT_MS;
    const getRemainingTimeInMillis = () => deadline - this.clock.now;
    return { getRemainingTimeInMillis, awsRequestId: '', functionName: '' };
  }

  async #note(run: Process, going: Promise<State>): Promise<State> {
    const state = await going;
    if (state === 'stalled') this.stalled.push(run);
    return state;
  }

  /** What a process throws is the business of who started it, except for mistakes of the code. */
  #failed(error: unknown): void {
    if (error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError) {
      this.bugs.push(String(error.stack));
    }
  }

  #startHost(): Host {
    const runtime = this.#runtime(CLOCK_ERRORS_MS[this.#hosts++ % CLOCK_ERRORS_MS.length] ?? 0);
    const { webhook, slackWebhook, worker, sweep } = this.#functions;
    return {
      runtime,
      stores: openStores(runtime),
      webhook: asHttpHandler(webhook.createHandler(runtime)),
      slackWebhook: asHttpHandler(slackWebhook.createHandler(runtime)),
      worker: asSqsHandler(worker.createHandler(runtime)),
      sweep: asScheduledHandler(sweep.createHandler(runtime)),
    };
  }

  #runtime(clockError: number): Runtime {
    const clock = () => this.clock.now + clockError;
    return {
      ...systemRuntime(this.config, VARIABLES),
      clock,
      random: () => 0.5,
      randomBytes: (size) => {
        const bytes = Buffer.alloc(size);
        bytes.writeUInt32BE(++this.#bytes);
        return bytes;
      },
      sleep: (ms) => this.clock.pass(ms),
      fetch: (input, init) => {
        const [url, sentAt] = [new URL(String(input)), this.clock.now];
        const carryOut = () => this.#fetch(url, init ?? {}, sentAt);
        // The clients of all hosts share a token that is on its way, because they share this process.
        return url.pathname.endsWith('/access_tokens') ? carryOut() : Process.pass(carryOut, false);
      },
      log: {
        info() {},
        warn() {},
        error: (line: unknown) => {
          const text = JSON.stringify(line);
          if (text.includes('failed unexpectedly') && !text.includes(AWS_FAILED)) this.bugs.push(text);
        },
      },
      metrics: createMetrics('test', () => {}, clock),
    };
  }

  async #fetch(url: URL, init: RequestInit, sentAt: number): Promise<Response> {
    if (url.origin === SERVICE_URL) return this.service.fetch(url, init, sentAt);
    // The clients of GitHub and Slack give up what their process has not sent by then, because it stood still.
    if (this.clock.now > sentAt + REPLY_TIMEOUT_MS) throw new DOMException('no answer', 'TimeoutError');
    if (url.hostname === 'api.github.com') return this.github.answer(url, init);
    return this.slack.answer(url, String(init.body ?? ''));
  }
}

/** Middy has a timer for each invocation, in real time, which nothing here waits for. */
export function stopTimers(): () => void {
  mock.timers.enable({ apis: ['setTimeout'] });
  // Or an import of a timer by its name keeps the real one.
  syncBuiltinESMExports();
  return () => {
    mock.timers.reset();
    syncBuiltinESMExports();
  };
}

const posted = (url: string, headers: Record<string, string>, body: string) =>
  functionUrlEvent({ method: 'POST', url, headers }, url, Buffer.from(body));
