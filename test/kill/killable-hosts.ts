import { once } from 'node:events';
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { type Runtime, systemRuntime } from '../../lib/runtime.ts';
import { asSqsHandler, type SqsHandler } from '../../local/event-source.ts';
import { asHttpHandler, type HttpHandler } from '../../local/http-front.ts';
import { asScheduledHandler, type ScheduledHandler } from '../../local/schedules.ts';
import type { LocalStack } from '../../local/stack.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { TestClock } from '../relay.ts';
import { effectOf } from './aws-effects.ts';
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
  /** Points whatever the SDK opens from now on at this host. */
  enter(): void;
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
  close(): Promise<void>;
}

export interface KillableHostsOptions {
  clock: TestClock;
  stack: LocalStack;
  sandbox: Sandbox;
  slackUrl: string;
  config: RelayConfig;
}

/**
 * Hosts that stop at a chosen side effect. All wires of a host pass one gate: DynamoDB, SQS and Secrets Manager through
 * an HTTP proxy that the AWS SDK is pointed at, the partner API, GitHub and Slack through the `fetch` that the functions
 * are given. Once a host stopped nothing of it gets through, so nothing of it can go on, while its code hangs on an
 * answer that never comes.
 */
export async function startKillableHosts(options: KillableHostsOptions): Promise<KillableHosts> {
  const { clock, stack, sandbox, slackUrl, config } = options;
  const read = () => clock.now;
  const [githubWebhook, slackWebhook, worker, sweep] = await Promise.all([
    import('../../functions/github-webhook.ts'),
    import('../../functions/slack-webhook.ts'),
    import('../../functions/job-worker.ts'),
    import('../../functions/job-sweep.ts'),
  ]);
  const upstreams: Record<string, string> = {
    dynamodb: stack.variables.AWS_ENDPOINT_URL_DYNAMODB,
    aws: stack.variables.AWS_ENDPOINT_URL_SQS,
  };
  // The database closes a connection after five idle seconds, and a request may cross that.
  const agent = new Agent({ keepAlive: true, timeout: 3_000 });
  const hosts = new Map<string, { host: Host; trial: UnderWay; stop(): void }>();
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
    if (due === 'refused') throw new Error('AWS refuses it');
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

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, id = '', wire = '', ...rest] = (request.url ?? '').split('/');
    const body = await buffer(request);
    const { effect, happening } = effectOf(String(request.headers['x-amz-target']), body);
    const send = async () => {
      const about = { agent, method: 'POST', path: `/${rest.join('/')}`, headers: request.headers };
      const upstream = httpRequest(upstreams[wire] ?? '', about).end(body);
      const [answered] = (await once(upstream, 'response')) as [IncomingMessage];
      const status = answered.statusCode ?? 0;
      // A write whose condition did not hold has changed nothing.
      if (happening && status === 200) hosts.get(id)?.trial.happenings.push(happening);
      return { status, headers: answered.headers, body: await buffer(answered) };
    };
    const answer = await pass(id, effect, send);
    response.writeHead(answer.status, answer.headers).end(answer.body);
  }

  const proxy = createServer((request, response) => {
    // An error that the SDK does not try to overcome.
    forward(request, response).catch(() => response.writeHead(400).end('{"__type":"AccessDeniedException"}'));
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;

  function variablesOf(id: string): Record<string, string> {
    return {
      ...stack.variables,
      AWS_ENDPOINT_URL_DYNAMODB: `${proxyUrl}/${id}/dynamodb`,
      AWS_ENDPOINT_URL_SQS: `${proxyUrl}/${id}/aws`,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: `${proxyUrl}/${id}/aws`,
      INTERACTIVE_QUEUE_URL: `${proxyUrl}/${id}/aws/000000000000/interactive.fifo`,
      BACKGROUND_QUEUE_URL: `${proxyUrl}/${id}/aws/000000000000/background.fifo`,
    };
  }

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
      const enter = () => void Object.assign(process.env, variablesOf(id));
      enter();
      const system = systemRuntime(config, process.env);
      const stopped = Promise.withResolvers<void>();
      const back = Promise.withResolvers<void>();
      back.promise.catch(() => {});
      const runtime: Runtime = {
        ...system,
        clock: read,
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
        enter,
        gate: undefined,
        stopped: stopped.promise,
        left: new Set(),
        comeBack() {
          enter();
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
    async close() {
      agent.destroy();
      const closed = new Promise((resolve) => proxy.close(resolve));
      proxy.closeAllConnections();
      await closed;
    },
  };
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
