import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { RelayConfig } from '../lib/config/schema.ts';
import { openStores, type Runtime, type Stores, systemRuntime } from '../lib/runtime.ts';
import { createMetrics } from '../lib/state/metrics/metrics.ts';
import { jobsByStatus, waitingLine } from '../lib/state/table/keys.ts';
import type { CustomAutomations } from '../lib/triggers/custom-automation.ts';
import { asSqsHandler, deliver } from '../local/event-source.ts';
import { FifoQueue, type ReceivedMessage } from '../local/fifo-queue.ts';
import { asHttpHandler, functionUrlEvent } from '../local/http-front.ts';
import { asScheduledHandler } from '../local/schedules.ts';
import type { VirtualClock } from './fuzz/clock.ts';
import { type Befall, Process, type State } from './fuzz/process.ts';
import { effectOf } from './kill/aws-effects.ts';
import type { Posted } from './requests.ts';
import { connectAws } from './simulation/aws-wire.ts';
import { DynamoDbModel } from './simulation/dynamodb-model.ts';
import { VARIABLES } from './simulation/world.ts';

/** The functions have the same time-outs as on AWS. */
const INVOCATION_MS = 60_000;
const VISIBILITY_TIMEOUT_MS = 90_000;

/** The relay's functions in one process, which can be stopped as a whole. */
export interface Host {
  runtime: Runtime;
  stores: Stores;
  take(posted: Posted): Promise<APIGatewayProxyStructuredResultV2>;
  deliver(queue: Pick<FifoQueue, 'name' | 'delete'>, message: ReceivedMessage): Promise<void>;
  sweep(): Promise<unknown>;
  /** Fires the schedules that are due. @param at the time that they are fired for, in epoch milliseconds */
  tick(at: number): Promise<unknown>;
}

/** Carries out a request to what is outside, unless its process is stopped at it. @param does see {@link Befall} */
export type Pass = (carryOut: () => Promise<Response>, does?: string) => Promise<Response>;

export interface HostsOptions {
  clock: VirtualClock;
  config: RelayConfig;
  /** The automations of the team. */
  custom?: CustomAutomations;
  /** By their names without the prefix. */
  secrets: Readonly<Record<string, object>>;
  /** What is outside. */
  fetch: (url: URL, init: RequestInit, pass: Pass) => Promise<Response>;
  /** Of so many conditional writes and messages, one loses its answer. */
  losesOneIn: number;
  /** Carries out a write of an index, later; by default at once. */
  propagate?: (key: string, apply: () => void) => void;
  /** The clocks of one host after the other are wrong by this. */
  clockErrorsMs?: readonly number[];
  /** Before and after a request to AWS leaves. */
  pause?: () => Promise<unknown>;
  /** Takes note of what AWS has carried out. */
  carriedOut?: (command: object) => void;
  /** Takes note of what a host logged as an error. */
  logged: (line: unknown) => void;
}

async function loadFunctions() {
  // Each function makes a handler of its own when it is loaded, from the environment. No host uses that one.
  Object.assign(process.env, VARIABLES);
  const [github, slack, hooks, worker, sweep, due] = await Promise.all([
    import('../functions/github-webhook.ts'),
    import('../functions/slack-webhook.ts'),
    import('../functions/hooks-webhook.ts'),
    import('../functions/job-worker.ts'),
    import('../functions/job-sweep.ts'),
    import('../functions/due-schedules.ts'),
  ]);
  return { github, slack, hooks, worker, sweep, due };
}

type Functions = Awaited<ReturnType<typeof loadFunctions>>;

/**
 * The relay on hosts that can be killed at any request, with models of AWS in the memory of this process. One host runs
 * at a time; the others are idle, have died, or stand still.
 */
export class Hosts {
  readonly queues: readonly FifoQueue[];
  readonly table: DynamoDbModel;
  /** Reads of the test, which nothing befalls. */
  readonly stores: Stores;
  readonly stalled: Process[] = [];
  readonly #options: HostsOptions;
  readonly #functions: Functions;
  readonly #disconnect: () => void;
  #idle: Host[] = [];
  #started = 0;
  #bytes = 0;

  static async start(options: HostsOptions): Promise<Hosts> {
    return new Hosts(options, await loadFunctions());
  }

  private constructor(options: HostsOptions, functions: Functions) {
    const { clock, secrets, losesOneIn, propagate = (_key, apply) => apply(), pause, carriedOut } = options;
    this.#options = options;
    this.#functions = functions;
    const read = () => clock.now;
    this.queues = ['interactive.fifo', 'background.fifo'].map(
      (name) => new FifoQueue(name, read, { visibilityTimeoutMs: VISIBILITY_TIMEOUT_MS }),
    );
    this.table = new DynamoDbModel([jobsByStatus, waitingLine], propagate);
    const texts = Object.entries(secrets).map(([name, secret]) => {
      return [VARIABLES.SECRET_PREFIX + name, JSON.stringify(secret)] as const;
    });
    this.#disconnect = connectAws(
      {
        table: this.table,
        losesOneIn,
        clock: read,
        queues: new Map(this.queues.map((queue) => [queue.name, queue])),
        secrets: new Map(texts),
      },
      async (answer, command) => {
        const running = Process.current();
        if (!running) return answer();
        await pause?.();
        const carryOut = async () => {
          await pause?.();
          const answered = answer();
          carriedOut?.(command);
          return answered;
        };
        return running.pass(carryOut, true, effectOf(command).effect);
      },
    );
    this.stores = openStores(this.#runtime(0));
  }

  close(): void {
    this.#disconnect();
  }

  /** Every host that is idle ends, so that the next one begins with nothing in its memory. */
  endIdle(): void {
    this.#idle = [];
  }

  /** Runs something on a host that does nothing else. @param act must not throw */
  async run(befall: Befall, act: (host: Host) => Promise<void>): Promise<State> {
    const host = this.#idle.pop() ?? this.#startHost();
    const { clock } = this.#options;
    const run = new Process(befall, (ms) => clock.pass(ms));
    return this.#note(
      run,
      run.start(async () => {
        await act(host);
        this.#idle.push(host);
      }),
    );
  }

  async resume(place: number): Promise<void> {
    const [run] = this.stalled.splice(place % this.stalled.length, 1);
    if (run) await this.#note(run, run.resume());
  }

  async #note(run: Process, going: Promise<State>): Promise<State> {
    const state = await going;
    if (state === 'stalled') this.stalled.push(run);
    return state;
  }

  #startHost(): Host {
    const { clockErrorsMs = [0] } = this.#options;
    const runtime = this.#runtime(clockErrorsMs[this.#started++ % clockErrorsMs.length] ?? 0);
    const { github, slack, hooks, worker, sweep, due } = this.#functions;
    // Most hosts stop before they have used all of them.
    const take = {
      '/github': onFirstUse(() => asHttpHandler(github.createHandler(runtime))),
      '/slack': onFirstUse(() => asHttpHandler(slack.createHandler(runtime))),
    };
    const takeHook = onFirstUse(() => asHttpHandler(hooks.createHandler(runtime)));
    const work = onFirstUse(() => asSqsHandler(worker.createHandler(runtime)));
    const runSweep = onFirstUse(() => asScheduledHandler(sweep.createHandler(runtime)));
    const fireDue = onFirstUse(() => asScheduledHandler(due.createHandler(runtime)));
    return {
      runtime,
      stores: openStores(runtime),
      take({ url, headers, body }) {
        const handle = url === '/github' || url === '/slack' ? take[url] : takeHook;
        return handle()(functionUrlEvent({ method: 'POST', url, headers }, url, body));
      },
      deliver: (queue, message) => deliver(queue, message, (event) => work()(event, this.#context())),
      sweep: () => runSweep()({}, this.#context()),
      tick: (at) => fireDue()({ at: new Date(at).toISOString() }, this.#context()),
    };
  }

  #context() {
    const { clock } = this.#options;
    const deadline = clock.now + INVOCATION_MS;
    return { getRemainingTimeInMillis: () => deadline - clock.now, awsRequestId: '', functionName: '' };
  }

  #runtime(clockErrorMs: number): Runtime {
    const { clock: virtual, config, custom, fetch, logged } = this.#options;
    const clock = () => virtual.now + clockErrorMs;
    return {
      ...systemRuntime(config, VARIABLES, custom),
      clock,
      random: () => 0.5,
      randomBytes: (size) => {
        const bytes = Buffer.alloc(size);
        bytes.writeUInt32BE(++this.#bytes);
        return bytes;
      },
      sleep: (ms) => Process.sleep(() => virtual.pass(ms)),
      fetch: (input, init = {}) => {
        const url = new URL(String(input));
        // The clients of all hosts share a token that is on its way, because they share this process.
        const isShared = url.pathname.endsWith('/access_tokens');
        return fetch(url, init, (carryOut, does) => (isShared ? carryOut() : Process.pass(carryOut, false, does)));
      },
      log: {
        info() {},
        warn() {},
        error: (line: unknown) => {
          if (!Process.current()?.isStopped) logged(line);
        },
      },
      metrics: createMetrics('test', () => {}, clock),
    };
  }
}

function onFirstUse<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/**
 * Middy has a timer for each invocation, in real time, which nothing here waits for. On a busy machine it would end runs
 * that take no virtual time at all. @returns what lets timers go again
 */
export function stopTimers(): () => void {
  mock.timers.enable({ apis: ['setTimeout'] });
  // Or an import of a timer by its name keeps the real one.
  syncBuiltinESMExports();
  return () => {
    mock.timers.reset();
    syncBuiltinESMExports();
  };
}
