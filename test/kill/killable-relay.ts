import { once } from 'node:events';
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { RelayConfig } from '../../lib/config/schema.ts';
import type { Job } from '../../lib/jobs/job.ts';
import { openStores, type Runtime, type Stores, systemRuntime } from '../../lib/runtime.ts';
import { keys } from '../../lib/table/keys.ts';
import { deliver, type SqsHandler } from '../../local/event-source.ts';
import { functionUrlEvent, type HttpHandler } from '../../local/http-front.ts';
import { startLocalStack } from '../../local/stack.ts';
import { defaultKey, type Sandbox, type SandboxOptions, startSandbox } from '../../sandbox/sandbox.ts';
import { type GithubApi, startGithubApi } from '../github-api.ts';
import { githubSignature, type TestClock, WEBHOOK_SECRET } from '../relay.ts';
import { type Answering, answerCreation } from './creation-faults.ts';

const WORKER_TIMEOUT_MS = 60_000;

/**
 * Where a host stops: at a side effect, counted from 0 over all that the relay does in the trial; `before` it is not
 * carried out, `after` it is carried out and its answer never arrives.
 */
export interface Stop {
  at: number;
  when: 'before' | 'after';
}

/** How the relay comes to its senses after a stop. Each is what AWS or GitHub may well do first. */
export interface Recovery {
  /** The sweep runs at each moment, or only where no message is left to wait for. */
  sweeps: 'always' | 'last';
  /** GitHub redelivers at once, or only after everything else came to rest. */
  redelivers: 'at once' | 'late';
}

export interface Trial {
  /** Deliveries in their order, each with the name of its event. */
  deliveries: readonly { event: string; payload: object }[];
  stops?: readonly Stop[];
  /** Whether a stopped host goes on, long after others took over its work; otherwise it was killed. */
  comesBack?: boolean;
  /** What happens to the first sends of a creation. */
  answers?: readonly Answering[];
  recovery?: Recovery | undefined;
}

/** What befell the creations, for who judges it. */
export type Happening =
  /** The signed request of a job is in the table, or not any more. */
  | { what: 'kept'; pk: string; nonce: string }
  | { what: 'dropped'; pk: string }
  | { what: 'sent'; nonce: string }
  | { what: 'answered'; nonce: string; answer: Response | 'nothing' }
  /** A host stopped, whatever it was at. */
  | { what: 'stopped' };

export interface TrialResult {
  happenings: readonly Happening[];
  effects: readonly string[];
  /** How often a host stopped. */
  stops: number;
  jobs: readonly Job[];
  /** What the functions logged as errors. */
  logged: readonly unknown[];
}

type Invoke = (event: object, context: object) => Promise<unknown>;

/** The functions on one host: a process that can be stopped as a whole. */
interface Host {
  id: number;
  webhook: () => HttpHandler;
  worker: () => SqsHandler;
  sweep: () => Invoke;
  /** Set once it stopped: whatever the host does next waits for this. That of a killed one never resolves. */
  gate: Promise<void> | undefined;
  stopped: Promise<void>;
  stop(): void;
  comeBack(): void;
  /** Lets what hangs of a killed host fail, so that it can be forgotten; everything that it tries fails too. */
  forget(): void;
  /** What it was at when it stopped. */
  unfinished: Promise<unknown>[];
}

export interface KillableRelay {
  clock: TestClock;
  sandbox: Sandbox;
  github: GithubApi;
  stores: Stores;
  try(trial: Trial): Promise<TrialResult>;
  close(): Promise<void>;
}

interface UnderWay extends Trial {
  happenings: Happening[];
  effects: string[];
  creations: number;
  /** A request that has left and not arrived yet. */
  late: (() => Promise<unknown>) | undefined;
  hosts: Host[];
  logged: unknown[];
}

/**
 * Partner Relay on hosts that stop at a chosen side effect. All four wires of a host pass one gate: DynamoDB, SQS and
 * Secrets Manager through an HTTP proxy that the AWS SDK is pointed at, the partner API and GitHub through the `fetch`
 * that the functions are given. Once a host stopped nothing of it gets through, so nothing of it can go on, while its
 * code hangs on an answer that never comes.
 */
export async function startKillableRelay(
  config: (githubUrl: string) => RelayConfig,
  sandboxOptions: SandboxOptions,
): Promise<KillableRelay> {
  const clock: TestClock = { now: Date.parse('2026-11-20T10:00:00Z') };
  const read = () => clock.now;
  const stack = await startLocalStack({ clock: read });
  const sandbox = await startSandbox({
    clock: read,
    rateLimit: { perMinute: 1_000_000, perDay: 1_000_000 },
    ...sandboxOptions,
  });
  const github = await startGithubApi(read);
  stack.secrets.put(`${stack.secretPrefix}partner/main`, { baseUrl: sandbox.url, ...defaultKey });
  stack.secrets.put(`${stack.secretPrefix}github`, { webhookSecret: WEBHOOK_SECRET, token: 'ghp_test' });
  Object.assign(process.env, stack.variables);
  const [webhook, worker, sweep] = await Promise.all([
    import('../../functions/github-webhook.ts'),
    import('../../functions/job-worker.ts'),
    import('../../functions/job-sweep.ts'),
  ]);
  const settings = config(github.url);
  const direct: Runtime = { ...systemRuntime(settings, process.env), clock: read };
  const stores = openStores(direct);
  // The SDK reads where to go at a client's first request; from then on the variables belong to the hosts.
  await stores.table.get(keys.budget('main'));

  const upstreams: Record<string, string> = {
    dynamodb: stack.variables.AWS_ENDPOINT_URL_DYNAMODB,
    aws: stack.variables.AWS_ENDPOINT_URL_SQS,
  };
  const agent = new Agent({ keepAlive: true });
  const hosts = new Map<string, Host>();
  let hostCount = 0;
  let current: UnderWay | undefined;

  /** Everything that a host does outside goes through here. */
  async function pass<T>(host: Host, effect: string | undefined, act: () => Promise<T>): Promise<T> {
    if (host.gate) await host.gate;
    if (effect === undefined || !current) return act();
    const trial = current;
    // Those of a host that came back are not counted: it did not come back to stop again.
    const at = trial.hosts.at(-1) === host ? trial.effects.push(effect) - 1 : -1;
    const stop = trial.stops?.find((one) => one.at === at);
    if (stop?.when === 'before') {
      host.stop();
      await host.gate;
    }
    const settled = await act().then(
      (value) => () => value,
      (error: unknown) => () => {
        throw error;
      },
    );
    if (stop?.when === 'after') {
      host.stop();
      await host.gate;
    }
    return settled();
  }

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, id = '', wire = '', ...rest] = (request.url ?? '').split('/');
    const body = await buffer(request);
    const host = hosts.get(id);
    if (!host) throw new Error(`the host ${id} is dead`);
    const { effect, happening } = effectOf(String(request.headers['x-amz-target']), body);
    const send = async () => {
      const options = { agent, method: 'POST', path: `/${rest.join('/')}`, headers: request.headers };
      const upstream = httpRequest(upstreams[wire] ?? '', options).end(body);
      const [answered] = (await once(upstream, 'response')) as [IncomingMessage];
      const status = answered.statusCode ?? 0;
      // A write whose condition did not hold has changed nothing.
      if (happening && status === 200) current?.happenings.push(happening);
      return { status, headers: answered.headers, body: await buffer(answered) };
    };
    const answer = await pass(host, effect, send);
    response.writeHead(answer.status, answer.headers).end(answer.body);
  }

  const proxy = createServer((request, response) => {
    // An error that the SDK does not try to overcome.
    forward(request, response).catch(() => response.writeHead(400).end('{"__type":"AccessDeniedException"}'));
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;

  function variablesOf(id: number): Record<string, string> {
    return {
      ...stack.variables,
      AWS_ENDPOINT_URL_DYNAMODB: `${proxyUrl}/${id}/dynamodb`,
      AWS_ENDPOINT_URL_SQS: `${proxyUrl}/${id}/aws`,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: `${proxyUrl}/${id}/aws`,
      INTERACTIVE_QUEUE_URL: `${proxyUrl}/${id}/aws/000000000000/interactive.fifo`,
      BACKGROUND_QUEUE_URL: `${proxyUrl}/${id}/aws/000000000000/background.fifo`,
    };
  }

  /** The `fetch` of a host, for the partner API and GitHub. */
  function fetchOf(host: () => Host): typeof globalThis.fetch {
    return async (input, init = {}) => {
      const url = String(input);
      if (!url.startsWith(sandbox.url)) {
        return pass(host(), init.method === 'POST' ? 'GitHub comment' : undefined, () => whole(fetch(url, init)));
      }
      const operation = url.slice(url.indexOf('/api/v1/partner/') + '/api/v1/partner/'.length);
      if (operation !== 'defects/create') return pass(host(), operation, () => whole(fetch(url, init)));

      const trial = current;
      if (host().gate || !trial) return pass(host(), operation, () => whole(fetch(url, init)));
      const nonce = new Headers(init.headers).get('x-nonce') ?? '';
      trial.happenings.push({ what: 'sent', nonce });
      try {
        const answer = await pass(host(), operation, async () => {
          const answering = trial.answers?.[trial.creations++] ?? 'as it is';
          const { late } = trial;
          trial.late = undefined;
          try {
            return await answerCreation(answering, () => whole(fetch(url, init)), {
              sandbox,
              clock,
              arrivesLater: (arrive) => {
                trial.late = arrive;
              },
            });
          } finally {
            await late?.();
          }
        });
        trial.happenings.push({ what: 'answered', nonce, answer: answer.clone() });
        return answer;
      } catch (error) {
        trial.happenings.push({ what: 'answered', nonce, answer: 'nothing' });
        throw error;
      }
    };
  }

  async function jobsUnderWay(): Promise<Job[]> {
    const statuses = ['queued', 'running', 'waiting'] as const;
    return (await Promise.all(statuses.map((status) => stores.jobs.list(status, { limit: 100 })))).flat();
  }

  function startHost(trial: UnderWay): Host {
    const id = ++hostCount;
    Object.assign(process.env, variablesOf(id));
    const system = systemRuntime(settings, process.env);
    const stopped = Promise.withResolvers<void>();
    const back = Promise.withResolvers<void>();
    back.promise.catch(() => {});
    const log = {
      info: () => {},
      warn: () => {},
      error: (line: unknown) => void (host.gate ?? trial.logged.push(line)),
    };
    const runtime: Runtime = {
      ...system,
      clock: read,
      random: () => 0.5,
      sleep: async (ms) => {
        if (host.gate) await host.gate;
        clock.now += ms;
      },
      fetch: fetchOf(() => host),
      log,
      metrics: { ...system.metrics, record: () => {} },
    };
    const host: Host = {
      id,
      // Most hosts stop before they have used all three.
      webhook: onFirstUse(() => webhook.createHandler(runtime) as unknown as HttpHandler),
      worker: onFirstUse(() => worker.createHandler(runtime) as unknown as SqsHandler),
      sweep: onFirstUse(() => sweep.createHandler(runtime) as unknown as Invoke),
      gate: undefined,
      stopped: stopped.promise,
      stop() {
        host.gate = back.promise;
        trial.happenings.push({ what: 'stopped' });
        stopped.resolve();
      },
      comeBack() {
        Object.assign(process.env, variablesOf(id));
        host.gate = undefined;
        back.resolve();
      },
      forget() {
        hosts.delete(String(id));
        back.reject(new Error('killed'));
      },
      unfinished: [],
    };
    hosts.set(String(id), host);
    trial.hosts.push(host);
    return host;
  }

  async function attempt(trial: Trial): Promise<TrialResult> {
    const underWay: UnderWay = {
      ...trial,
      happenings: [],
      effects: [],
      creations: 0,
      late: undefined,
      hosts: [],
      logged: [],
    };
    const { sweeps, redelivers } = trial.recovery ?? { sweeps: 'always', redelivers: 'at once' };
    current = underWay;
    let host = startHost(underWay);
    const jobIds = new Set<string>();

    /** @returns undefined where the host stopped meanwhile; another one takes its place */
    async function invoke<T>(call: (host: Host) => Promise<T>): Promise<T | undefined> {
      const on = host;
      const ended = call(on);
      const stopped = Symbol();
      const first = await Promise.race([ended, on.stopped.then(() => stopped)]);
      if (first !== stopped) return first as T;
      on.unfinished.push(ended);
      ended.catch(() => {});
      host = startHost(underWay);
      return undefined;
    }

    /** @returns whether it was answered with 2xx */
    async function post({ event, payload }: Trial['deliveries'][number]): Promise<boolean> {
      const body = Buffer.from(JSON.stringify(payload));
      const headers = {
        'content-type': 'application/json',
        'x-github-event': event,
        'x-github-delivery': `delivery-${underWay.effects.length}`,
        'x-hub-signature-256': githubSignature(body),
      };
      const request = { method: 'POST', url: '/github', headers };
      const answer = await invoke((on) => on.webhook()(functionUrlEvent(request, '/github', body)));
      if (answer === undefined) return false;
      const status = answer.statusCode ?? 200;
      if (status >= 300) throw new Error(`the webhook answered ${status}: ${answer.body}`);
      for (const id of (JSON.parse(answer.body ?? '{}') as { jobs: string[] }).jobs) jobIds.add(id);
      return true;
    }

    async function work(): Promise<void> {
      for (const queue of stack.queues) {
        for (let message = queue.receive(); message; message = queue.receive()) {
          const received = message;
          const deadline = clock.now + WORKER_TIMEOUT_MS;
          const context = { getRemainingTimeInMillis: () => deadline - clock.now, awsRequestId: '', functionName: '' };
          // A stopped host reports nothing, so its message stays.
          await invoke((on) => deliver(queue, received, (event) => on.worker()(event, context)));
        }
      }
    }

    async function workToTheEnd(): Promise<void> {
      for (let round = 0; round < 100; round++) {
        await work();
        const messages = Math.min(...stack.queues.map((queue) => queue.nextWakeAt()));
        const patient = sweeps === 'last' && messages !== Number.POSITIVE_INFINITY;
        const open = patient ? [] : await jobsUnderWay();
        if (!patient && open.length === 0 && messages === Number.POSITIVE_INFINITY) return;
        const jobs = Math.min(...open.map((job) => job.wakeAt));
        clock.now = Math.max(clock.now + 1, Math.min(messages, jobs));
        if (!patient) await invoke((on) => on.sweep()({}, {}));
      }
      const open = (await jobsUnderWay()).map(
        ({ id, status, generation, attempts, wakeAt, waitingFor }) =>
          `${id} ${status} ${generation} ${attempts} ${wakeAt - clock.now} ${waitingFor}`,
      );
      throw new Error(`the relay does not come to rest: ${open.join('; ')}; ${underWay.effects.slice(-12).join(', ')}`);
    }

    const undelivered = [];
    for (const delivery of trial.deliveries) {
      let delivered = await post(delivery);
      while (!delivered && redelivers === 'at once') delivered = await post(delivery);
      if (!delivered) undelivered.push(delivery);
      await work();
    }
    await workToTheEnd();
    for (const delivery of undelivered) while (!(await post(delivery)));
    await workToTheEnd();

    const stopped = underWay.hosts.filter((one) => one.gate);
    if (trial.comesBack) {
      for (const one of stopped) {
        one.comeBack();
        await Promise.allSettled(one.unfinished);
      }
      Object.assign(process.env, variablesOf(host.id));
      await workToTheEnd();
    }
    await underWay.late?.();
    current = undefined;
    const jobs = await Promise.all([...jobIds].map((id) => stores.jobs.get(id)));
    // The next trial shall find the connection as this one did.
    await Promise.all([stores.table.delete(keys.outage('main')), stores.table.delete(keys.budget('main'))]);
    clock.now += 120_000;
    const { effects, logged } = underWay;
    const happenings = [...underWay.happenings];
    for (const one of underWay.hosts) one.forget();
    return { happenings, effects, stops: stopped.length, jobs: jobs.filter((job) => job !== undefined), logged };
  }

  return {
    clock,
    sandbox,
    github,
    stores,
    try: attempt,
    async close() {
      agent.destroy();
      const closed = new Promise((resolve) => proxy.close(resolve));
      proxy.closeAllConnections();
      await Promise.all([closed, github.close(), sandbox.close(), stack.close()]);
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

type Attributes = Record<string, { S?: string; M?: Attributes }>;

/** What a request to AWS changes, in words; nothing where it only reads. */
function effectOf(target: string, body: Buffer): { effect?: string; happening?: Happening } {
  const action = target.slice(target.indexOf('.') + 1);
  if (action === 'SendMessage' || action === 'ChangeMessageVisibility') return { effect: action };
  if (action !== 'PutItem' && action !== 'UpdateItem' && action !== 'DeleteItem') return {};
  const { Key, Item = Key } = JSON.parse(body.toString()) as { Key?: Attributes; Item?: Attributes };
  const pk = Item?.pk?.S ?? '';
  const sk = Item?.sk?.S ?? '';
  const effect = `${action} ${sk}`;
  if (!sk.startsWith('request#')) return { effect };
  if (action === 'DeleteItem') return { effect, happening: { what: 'dropped', pk } };
  return { effect, happening: { what: 'kept', pk, nonce: Item?.request?.M?.headers?.M?.['x-nonce']?.S ?? '' } };
}
