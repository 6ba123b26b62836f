import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { RelayConfig } from '../lib/config/schema.ts';
import { openStores, type Runtime, type Stores, systemRuntime } from '../lib/runtime.ts';
import { createMetrics } from '../lib/state/metrics/metrics.ts';
import type { CustomAutomations } from '../lib/triggers/custom-automation.ts';
import type { FifoQueue, ReceivedMessage } from '../local/fifo-queue.ts';
import { type Carry, losingAnswers } from '../local/world/aws.ts';
import { contextUntil, functionsOf } from '../local/world/functions.ts';
import { type MemoryStack, openMemoryStack } from '../local/world/memory-stack.ts';
import type { VirtualClock } from './fuzz/clock.ts';
import { type Befall, Process, type State } from './fuzz/process.ts';
import { effectOf } from './kill/aws-effects.ts';
import type { Posted } from './requests.ts';

/** As on AWS. */
const INVOCATION_MS = 60_000;

/** The relay's functions in one process, which can be stopped as a whole. */
export interface Host {
  runtime: Runtime;
  stores: Stores;
  take(posted: Posted): Promise<APIGatewayProxyStructuredResultV2>;
  deliver(queue: Pick<FifoQueue, 'name' | 'delete'>, message: ReceivedMessage): Promise<void>;
  sweep(): Promise<unknown>;
  /** Fires due schedules. @param at the time that they are fired for, in epoch milliseconds */
  tick(at: number): Promise<unknown>;
}

/** Carries out an outside request, unless its process stops at it. @param does see {@link Befall} */
export type Pass = (carryOut: () => Promise<Response>, does?: string) => Promise<Response>;

export interface HostsOptions {
  clock: VirtualClock;
  config: RelayConfig;
  /** The team's automations. */
  custom?: CustomAutomations;
  /** By name, without the prefix. */
  secrets: Readonly<Record<string, object>>;
  /** Carries out requests to the outside. */
  fetch: (url: URL, init: RequestInit, pass: Pass) => Promise<Response>;
  /** One of this many conditional writes and messages loses its answer. */
  losesOneIn: number;
  /** Carries out an index write later; by default at once. */
  propagate?: (key: string, apply: () => void) => void;
  /** The errors of the clocks of successive hosts. */
  clockErrorsMs?: readonly number[];
  /** Runs before and after a request to AWS. */
  pause?: () => Promise<unknown>;
  /** Called with each command that AWS carried out. */
  carriedOut?: (command: object) => void;
  /** Called with each error line of a host's log. */
  logged: (line: unknown) => void;
}

/**
 * The relay on hosts that can be killed at any request, with models of AWS in memory. One host runs at a time; the
 * others are idle, dead or stalled.
 */
export class Hosts {
  readonly stack: MemoryStack;
  /** For the test's own reads, which have no troubles. */
  readonly stores: Stores;
  readonly stalled: Process[] = [];
  readonly #options: HostsOptions;
  #idle: Host[] = [];
  #started = 0;
  #bytes = 0;

  constructor(options: HostsOptions) {
    const { clock, secrets, losesOneIn, propagate, pause, carriedOut } = options;
    this.#options = options;
    const carry: Carry = async (answer, command) => {
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
    };
    this.stack = openMemoryStack({
      clock: () => clock.now,
      carry: losingAnswers(losesOneIn, carry),
      ...(propagate && { propagate }),
    });
    for (const [name, secret] of Object.entries(secrets))
      this.stack.secrets.put(this.stack.secretPrefix + name, secret);
    Object.assign(process.env, this.stack.variables);
    this.stores = openStores(this.#runtime(0));
  }

  /** Ends every idle host, so that the next host begins with an empty memory. */
  endIdle(): void {
    this.#idle = [];
  }

  /** Runs something on an idle host. @param act must not throw */
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
    const functions = functionsOf(() => runtime);
    const { clock } = this.#options;
    const contextNow = () => contextUntil(clock.now + INVOCATION_MS, () => clock.now);
    return {
      runtime,
      stores: openStores(runtime),
      take: functions.take,
      deliver: (queue, message) => functions.work(queue, message, contextNow()),
      sweep: () => functions.fire('job-sweep', {}, contextNow()),
      tick: (at) => functions.fire('due-schedules', { at: new Date(at).toISOString() }, contextNow()),
    };
  }

  #runtime(clockErrorMs: number): Runtime {
    const { clock: virtual, config, custom, fetch, logged } = this.#options;
    const clock = () => virtual.now + clockErrorMs;
    return {
      ...systemRuntime(config, this.stack.variables, custom),
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
        // The clients of all hosts share a token request under way, because they share this process.
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

/**
 * Stops Middy's timers, one for each invocation in real time. On a busy machine, they would end runs that take no
 * virtual time.
 * @returns restores the timers
 */
export function stopTimers(): () => void {
  mock.timers.enable({ apis: ['setTimeout'] });
  // Otherwise, an import of a timer by name keeps the real one.
  syncBuiltinESMExports();
  return () => {
    mock.timers.reset();
    syncBuiltinESMExports();
  };
}
