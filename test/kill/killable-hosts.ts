import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { type Runtime, systemRuntime } from '../../lib/runtime.ts';
import { asSqsHandler, type SqsHandler } from '../../local/event-source.ts';
import { asHttpHandler, type HttpHandler } from '../../local/http-front.ts';
import { asScheduledHandler, type ScheduledHandler } from '../../local/schedules.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { TestClock } from '../relay.ts';
import { type AwsModels, connectAws, SILENCE_MS, silence } from '../simulation/aws-wire.ts';
import { VARIABLES } from '../simulation/world.ts';
import { changesAws, effectOf } from './aws-effects.ts';
import { answerOperation } from './creation-faults.ts';
import type { FunctionSlug, Happening, UnderWay } from './trial.ts';

const PARTNER_PATH = '/api/v1/partner/';
const MCP_PATH = '/mcp/partner';
/** Methods of Slack that only read. */
const SLACK_READS = new Set(['auth.test', 'users.info', 'conversations.history', 'usergroups.users.list']);

/** The functions on one host: a process that can be stopped as a whole. */
export interface Host {
  githubWebhook: () => HttpHandler;
  slackWebhook: () => HttpHandler;
  worker: () => SqsHandler;
  sweep: () => ScheduledHandler;
  /** The function that it was asked for last. */
  asked: FunctionSlug | undefined;
  /** Runs something on this host: what it asks of AWS, and what goes on of it later, is the host's. */
  run<T>(act: () => T): T;
  /** Set once it stopped: whatever the host does next waits for this. That of a killed one never resolves. */
  gate: Promise<void> | undefined;
  stopped: Promise<void>;
  /** What had left it by then, and may still arrive. */
  left: Set<Promise<unknown>>;
  comeBack(): void;
  /** Lets what hangs of a killed host fail, so that it can be forgotten; everything that it tries fails too. */
  forget(): void;
  /** What it was at when it stopped. */
  unfinished: Promise<unknown>[];
}

export interface KillableHosts {
  /** A new host, whose side effects are those of the trial from now on. */
  start(trial: UnderWay): Host;
  /** Gives the SDK's clients their own sending back. */
  close(): void;
}

export interface KillableHostsOptions {
  clock: TestClock;
  aws: AwsModels;
  sandbox: Sandbox;
  slackUrl: string;
  config: RelayConfig;
}

/**
 * Hosts that stop at a chosen side effect. All that a host does outside passes one gate: requests to AWS where the SDK
 * sends them, and those to the partner API, GitHub and Slack in the `fetch` that the functions are given. Once a host
 * stopped nothing of it gets through, so nothing of it can go on, while its code hangs on an answer that never comes.
 */
export async function startKillableHosts(options: KillableHostsOptions): Promise<KillableHosts> {
  const { clock, aws, sandbox, slackUrl, config } = options;
  const [githubWebhook, slackWebhook, worker, sweep] = await Promise.all([
    import('../../functions/github-webhook.ts'),
    import('../../functions/slack-webhook.ts'),
    import('../../functions/job-worker.ts'),
    import('../../functions/job-sweep.ts'),
  ]);
  const hosts = new Map<string, { host: Host; trial: UnderWay; stop(): void }>();
  /** The host whose code runs; none for what the test reads. */
  const running = new AsyncLocalStorage<string>();
  let hostCount = 0;
  let newest: Host | undefined;

  /** Everything that a host does outside goes through here. */
  async function pass<T>(id: string, what: string | undefined, act: () => Promise<T>): Promise<T> {
    const known = hosts.get(id);
    if (!known) throw new Error(`the host ${id} is dead`);
    const { host, trial, stop } = known;
    if (host.gate) await host.gate;
    // Those of a host that came back are not counted: it did not come back to stop again.
    if (what === undefined || host !== newest || host.asked === undefined) return act();
    const at = trial.effects.push({ by: host.asked, what }) - 1;
    const due = trial.stops?.find((one) => one.at === at)?.when;
    if (due) trial.stopped += 1;
    if (due === 'refused') throw new AwsRefuses();
    // What comes at the same time may come in another order than in the trial that was counted.
    if (due === 'silent' && changesAws(what)) {
      await act();
      clock.now += SILENCE_MS;
      throw silence();
    }
    if (due === 'before') {
      stop();
      await host.gate;
    }
    const acting = act();
    host.left.add(acting);
    const settled = await acting.then(
      (value) => () => value,
      (error: unknown) => () => {
        throw error;
      },
    );
    host.left.delete(acting);
    if (due === 'after') {
      stop();
      await host.gate;
    }
    return settled();
  }

  const disconnect = connectAws(aws, async (answer, command) => {
    const id = running.getStore();
    if (id === undefined) return answer();
    const { effect, happening } = effectOf(command);
    // What nobody waits for has not left yet when an answer goes out.
    await setImmediate();
    return pass(id, effect, async () => {
      // A webhook has several under way at once.
      await setImmediate();
      const answered = answer();
      // A write whose condition did not hold has changed nothing.
      if (happening) hosts.get(id)?.trial.happenings.push(happening);
      return answered;
    });
  });

  /** The `fetch` of a host, for the partner API, GitHub and Slack. */
  function fetchOf(id: string, trial: UnderWay): typeof globalThis.fetch {
    return (input, init = {}) => {
      const url = String(input);
      const send = () => whole(fetch(url, init));
      const operation = operationOf(url, init.body);
      if (operation === undefined) return pass(id, sideEffectOf(url, init.method), send);
      if (operation !== trial.operation) return pass(id, operation, send);
      return sendOperation(id, trial, new Headers(init.headers).get('x-nonce') ?? '', send);
    };
  }

  /** Sends the operation of the trial, and notes what becomes of it where it creates something. */
  async function sendOperation(
    id: string,
    trial: UnderWay,
    nonce: string,
    send: () => Promise<Response>,
  ): Promise<Response> {
    if (hosts.get(id)?.host.gate) return pass(id, trial.operation, send);
    const target = trial.isTool ? { operation: MCP_PATH, call: trial.operation } : { operation: `/${trial.operation}` };
    const isFollowed = !trial.repeatable && !trial.isTool;
    const note = (happening: Happening) => void (isFollowed && trial.happenings.push(happening));
    note({ what: 'sent', nonce });
    try {
      const answer = await pass(id, trial.operation, async () => {
        const answering = trial.answers?.[trial.sends++] ?? 'as it is';
        const { late } = trial;
        trial.late = undefined;
        try {
          const arrivesLater = (arrive: () => Promise<unknown>) => {
            trial.late = arrive;
          };
          return await answerOperation(answering, send, { target, sandbox, clock, arrivesLater });
        } finally {
          await late?.();
        }
      });
      note({ what: 'answered', nonce, answer: answer.clone() });
      return answer;
    } catch (error) {
      note({ what: 'answered', nonce, answer: 'nothing' });
      throw error;
    }
  }

  /** The path of an operation, the name of a tool that is called, or another method of MCP. */
  function operationOf(url: string, body: unknown): string | undefined {
    if (!url.startsWith(sandbox.url)) return undefined;
    if (!url.endsWith(MCP_PATH)) return url.slice(url.indexOf(PARTNER_PATH) + PARTNER_PATH.length);
    const { method, params } = JSON.parse(String(body)) as { method: string; params?: { name?: string } };
    return method === 'tools/call' ? params?.name : method;
  }

  function sideEffectOf(url: string, method: string | undefined): string | undefined {
    if (url.startsWith(`${slackUrl}/response/`)) return 'response_url';
    if (url.startsWith(slackUrl)) {
      const called = url.slice(`${slackUrl}/api/`.length);
      return SLACK_READS.has(called) ? undefined : called;
    }
    if (/\/check-runs(\/\d+)?$/.test(url)) return method === 'POST' || method === 'PATCH' ? 'GitHub check' : undefined;
    // The library shares one request for a token among all hosts of this process, and so would the hang of a killed one.
    return method === 'POST' && !url.endsWith('/access_tokens') ? 'GitHub comment' : undefined;
  }

  return {
    start(trial) {
      const id = String(++hostCount);
      const system = systemRuntime(config, VARIABLES);
      const stopped = Promise.withResolvers<void>();
      const back = Promise.withResolvers<void>();
      back.promise.catch(() => {});
      const runtime: Runtime = {
        ...system,
        clock: () => clock.now,
        random: () => 0.5,
        sleep: async (ms) => {
          if (host.gate) await host.gate;
          clock.now += ms;
        },
        fetch: fetchOf(id, trial),
        log: {
          info: () => {},
          warn: () => {},
          error: (line: unknown) => void (host.gate ?? trial.logged.push(line)),
        },
        metrics: { ...system.metrics, record: () => {} },
      };
      const host: Host = {
        // Most hosts stop before they have used all of them.
        githubWebhook: onFirstUse(() => asHttpHandler(githubWebhook.createHandler(runtime))),
        slackWebhook: onFirstUse(() => asHttpHandler(slackWebhook.createHandler(runtime))),
        worker: onFirstUse(() => asSqsHandler(worker.createHandler(runtime))),
        sweep: onFirstUse(() => asScheduledHandler(sweep.createHandler(runtime))),
        asked: undefined,
        run: (act) => running.run(id, act),
        gate: undefined,
        stopped: stopped.promise,
        left: new Set(),
        comeBack() {
          host.gate = undefined;
          back.resolve();
        },
        forget() {
          hosts.delete(id);
          back.reject(new Error('killed'));
        },
        unfinished: [],
      };
      const stop = () => {
        host.gate = back.promise;
        trial.happenings.push({ what: 'stopped' });
        stopped.resolve();
      };
      hosts.set(id, { host, trial, stop });
      newest = host;
      return host;
    },
    close: disconnect,
  };
}

/** An error that the SDK does not try to overcome. */
class AwsRefuses extends Error {
  override readonly name = 'AccessDeniedException';
}

function onFirstUse<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** The answer with its body read, so that it has arrived as a whole. */
async function whole(answering: Promise<Response>): Promise<Response> {
  const answer = await answering;
  const body = await answer.arrayBuffer();
  return new Response(answer.status === 204 ? null : body, { status: answer.status, headers: answer.headers });
}
