import { setImmediate } from 'node:timers/promises';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { type Job, type JobStatus, newsOf } from '../../lib/engine/record/job.ts';
import type { Stores } from '../../lib/runtime.ts';
import { createBreakers } from '../../lib/service/connection/breakers.ts';
import { budgetIdOf } from '../../lib/service/connection/connection.ts';
import { keys } from '../../lib/state/table/keys.ts';
import { commandForm } from '../../local/slack/requests.ts';
import { type SlackStandIn, startSlackStandIn } from '../../local/slack/stand-in.ts';
import { nextMoment } from '../../local/world/world.ts';
import { defaultKey, type Sandbox, type SandboxOptions, startSandbox } from '../../sandbox/sandbox.ts';
import { VirtualClock } from '../fuzz/clock.ts';
import { Process, type What } from '../fuzz/process.ts';
import { type GithubApi, startGithubApi } from '../github-api.ts';
import { APP } from '../github-identity.ts';
import { type Host, Hosts, type Pass } from '../hosts.ts';
import { GRANTS_KEY, githubDelivery, type Posted, SIGNING_SECRET, slackRequest, WEBHOOK_SECRET } from '../requests.ts';
import { ways } from '../ways.ts';
import { effectOf } from './aws-effects.ts';
import type { FunctionSlug, Happening, Incoming, Trial, TrialResult } from './trial.ts';

const BOT_TOKEN = 'xoxb-of-the-tests';
const PARTNER_PATH = '/api/v1/partner/';
const MCP_PATH = '/mcp/partner';
/** Methods of Slack that only read. */
const SLACK_READS = new Set(['auth.test', 'users.info', 'conversations.history', 'usergroups.users.list']);

export interface KillableRelay {
  clock: VirtualClock;
  sandbox: Sandbox;
  github: GithubApi;
  slack: SlackStandIn;
  stores: Stores;
  /** @param incoming the events, in order */
  try(trial: Trial, incoming: readonly Incoming[]): Promise<TrialResult>;
  close(): Promise<void>;
}

/** Partner Relay on hosts that stop, one trial after the other. */
export async function startKillableRelay(
  config: (urls: { github: string; slack: string }) => RelayConfig,
  sandboxOptions: SandboxOptions,
): Promise<KillableRelay> {
  const clock = new VirtualClock(Date.parse('2026-11-20T10:00:00Z'));
  const read = () => clock.now;
  const rateLimit = { perMinute: 1_000_000, perDay: 1_000_000 };
  const sandbox = await startSandbox({ clock: read, rateLimit, ...sandboxOptions });
  const github = await startGithubApi(read);
  const slack = await startSlackStandIn({ clock: read, botToken: BOT_TOKEN });
  let trial: Trial;
  let result: TrialResult;
  const hosts = new Hosts({
    clock,
    config: config({ github: github.url, slack: `${slack.url}/api` }),
    secrets: {
      'partner/main': { baseUrl: sandbox.url, ...defaultKey },
      'instance/main': { baseUrl: sandbox.url },
      'github-webhook': { webhookSecret: WEBHOOK_SECRET },
      github: { token: 'ghp_test', ...APP },
      slack: { signingSecret: SIGNING_SECRET, botToken: BOT_TOKEN },
      grants: GRANTS_KEY,
      markers: { key: 'another key of the tests, long enough' },
      intake: { key: 'one more key of the tests, long enough' },
    },
    // Otherwise, the numbers of side effects would vary between trials.
    losesOneIn: Number.POSITIVE_INFINITY,
    // A webhook has several effects under way at once. Without this pause, some would leave only after the answer.
    pause: () => setImmediate(),
    carriedOut(command) {
      const { happening } = effectOf(command);
      if (happening) result.happenings.push(happening);
    },
    logged: (line) => void result.logged.push(line),
    fetch(url, init, pass) {
      const send = () => whole(fetch(url, init));
      const operation = operationOf(url, init.body);
      if (operation === undefined) return pass(send, effectOutside(url, init.method));
      if (operation !== trial.row.operation || Process.current()?.isStopped) return pass(send, operation);
      return sendOperation(new Headers(init.headers).get('x-nonce') ?? '', send, pass);
    },
  });
  const { stores } = hosts;
  const { queues } = hosts.stack;
  const breakers = createBreakers({ table: stores.table, clock: read, random: Math.random });

  /** The path of an operation, the name of a called tool, or another method of MCP. */
  function operationOf({ href, pathname }: URL, body: unknown): string | undefined {
    if (!href.startsWith(sandbox.url)) return undefined;
    if (pathname !== MCP_PATH) return pathname.replace(PARTNER_PATH, '');
    const { method, params } = JSON.parse(String(body)) as { method: string; params?: { name?: string } };
    return method === 'tools/call' ? params?.name : method;
  }

  function effectOutside({ href, pathname }: URL, method: string | undefined): string | undefined {
    if (href.startsWith(slack.url)) {
      if (pathname.startsWith('/response/')) return 'response_url';
      const called = pathname.replace('/api/', '');
      return SLACK_READS.has(called) ? undefined : called;
    }
    if (/\/check-runs(\/\d+)?$/.test(pathname))
      return method === 'POST' || method === 'PATCH' ? 'GitHub check' : undefined;
    return method === 'POST' ? 'GitHub comment' : undefined;
  }

  /** Sends the trial's operation and, if it creates something, notes the outcome. */
  async function sendOperation(nonce: string, send: () => Promise<Response>, pass: Pass): Promise<Response> {
    const { answers } = trial;
    const { operation, isTool, repeatable } = trial.row;
    const target = isTool ? { operation: MCP_PATH, call: operation } : { operation: `/${operation}` };
    const note = (happening: Happening) => void (repeatable || isTool || result.happenings.push(happening));
    note({ what: 'sent', nonce });
    const goItsWay = () => {
      const way = answers[result.sends++] ?? 'as it is';
      return ways[way](send, { clock, service: sandbox, target });
    };
    const answer = await pass(goItsWay, operation).catch((error: unknown) => {
      note({ what: 'answered', nonce, answer: 'nothing' });
      throw error;
    });
    note({ what: 'answered', nonce, answer: answer.clone() });
    return answer;
  }

  async function jobsOf(...statuses: JobStatus[]): Promise<Job[]> {
    const options = { limit: 100, newestFirst: true };
    return (await Promise.all(statuses.map((status) => stores.jobs.list(status, options)))).flat();
  }

  async function attempt(tried: Trial, incoming: readonly Incoming[]): Promise<TrialResult> {
    trial = tried;
    const { stops = [], comesBack, recovery } = trial;
    const { sweeps, redelivers } = recovery ?? { sweeps: 'always', redelivers: 'at once' };
    const startedAt = clock.now;
    result = {
      happenings: [],
      effects: [],
      sends: 0,
      stops: 0,
      jobs: [],
      acknowledged: [],
      typed: [],
      logged: [],
    };
    const mayFail = stops.some(({ when }) => when === 'refused' || when === 'silent');
    const what = (when: 'before' | 'after'): What => `${comesBack ? 'stalls' : 'dies'} ${when}`;

    /** @returns undefined if the host stopped meanwhile; another one takes its place */
    async function invoke<T>(by: FunctionSlug, call: (host: Host) => Promise<T>): Promise<T | undefined> {
      const befall = (_: number, does: string | undefined): What | undefined => {
        if (does === undefined) return undefined;
        const at = result.effects.push({ by, what: does }) - 1;
        const due = stops.find((stop) => stop.at === at)?.when;
        if (due === undefined) return undefined;
        result.stops += 1;
        return due === 'before' || due === 'after' ? what(due) : due;
      };
      const ended: { value?: T; error?: unknown } = {};
      const state = await hosts.run(befall, async (host) => {
        const keep = (error: unknown) => void Object.assign(ended, { error });
        await call(host).then((value) => void Object.assign(ended, { value }), keep);
      });
      if (state !== 'ended') result.happenings.push({ what: 'stopped' });
      // A failed invocation: its message stays, and its schedule fires again.
      else if (ended.error !== undefined && !mayFail) throw ended.error;
      return ended.value;
    }

    /** @returns undefined without a 2xx */
    async function post(posted: Posted): Promise<APIGatewayProxyStructuredResultV2 | undefined> {
      const slug = posted.url === '/github' ? 'github-webhook' : 'slack-webhook';
      const answer = await invoke(slug, (host) => host.take(posted));
      const status = answer?.statusCode ?? 200;
      // The person then does not read that the relay accepted it.
      if (mayFail && answer?.body?.includes('may or may not be saved')) return undefined;
      if (status < 300) return answer;
      if (status >= 500 && mayFail) return undefined;
      throw new Error(`the webhook answered ${status}: ${answer?.body}`);
    }

    /** @returns whether it was answered with 2xx */
    async function bring(one: Incoming): Promise<boolean> {
      if (one.from === 'github') {
        const answer = await post(githubDelivery(one.event, one.payload));
        if (answer) result.acknowledged.push(...(JSON.parse(answer.body ?? '') as { jobs: string[] }).jobs);
        return answer !== undefined;
      }
      if (one.from === 'slack modal') {
        const answer = await post(slackRequest({ payload: JSON.stringify(one.payload) }, clock.now));
        if (answer?.body) throw new Error(`the modal stays open: ${answer.body}`);
        return answer !== undefined;
      }
      const form = commandForm(slack, `/pm ${one.text}`, one);
      const answer = await post(slackRequest(form, clock.now));
      if (answer && !answer.body?.includes('Working on it'))
        throw new Error(`the command was answered with: ${answer.body}`);
      result.typed.push({ triggerId: form.get('trigger_id') ?? '', isAnswered: answer !== undefined });
      return answer !== undefined;
    }

    async function work(): Promise<void> {
      for (const queue of queues) {
        for (let message = queue.receive(); message; message = queue.receive()) {
          const received = message;
          // A stopped host reports nothing, so its message stays.
          await invoke('job-worker', (host) => host.deliver(queue, received));
        }
      }
    }

    async function workToTheEnd(): Promise<void> {
      for (let round = 0; round < 100; round++) {
        await work();
        const messages = Math.min(...queues.map((queue) => queue.nextWakeAt()));
        const patient = sweeps === 'last' && messages !== Number.POSITIVE_INFINITY;
        const open = patient ? [] : await jobsOf('queued', 'running', 'waiting');
        if (!patient && open.length === 0 && messages === Number.POSITIVE_INFINITY) return;
        await clock.pass(nextMoment(clock.now, queues, open) - clock.now);
        if (!patient) await invoke('job-sweep', (host) => host.sweep());
      }
      const open = (await jobsOf('queued', 'running', 'waiting')).map(
        (job) => `${job.id} ${job.status} ${job.generation} ${job.attempts} ${job.wakeAt - clock.now} ${newsOf(job)}`,
      );
      const last = result.effects.slice(-12).map((effect) => effect.what);
      throw new Error(`the relay does not come to rest: ${open.join('; ')}; ${last.join(', ')}`);
    }

    const unanswered = [];
    for (const one of incoming) {
      let answered = await bring(one);
      while (!answered && redelivers === 'at once') answered = await bring(one);
      if (!answered) unanswered.push(one);
      await work();
    }
    await workToTheEnd();
    for (const one of unanswered) while (!(await bring(one)));
    await workToTheEnd();
    while (hosts.stalled.length > 0) {
      await hosts.resume(0);
      await workToTheEnd();
    }
    // Requests on the way arrive.
    await clock.pass(120_000);
    result.jobs = (await jobsOf('queued', 'running', 'waiting', 'succeeded', 'not-done', 'parked')).filter(
      (job) => job.createdAt >= startedAt,
    );
    // The next trial must begin with the same relay, so that its side effects have the same numbers.
    hosts.endIdle();
    await Promise.all([
      breakers.closeAll('main'),
      stores.table.delete(keys.budget(budgetIdOf({ baseUrl: sandbox.url, ...defaultKey }))),
      stores.table.delete(keys.slackWorkspace()),
    ]);
    return result;
  }

  return {
    clock,
    sandbox,
    github,
    slack,
    stores,
    try: attempt,
    async close() {
      void hosts.stack.close();
      await Promise.all([github.close(), slack.close(), sandbox.close()]);
    },
  };
}

/** The answer with its whole body. */
async function whole(answering: Promise<Response>): Promise<Response> {
  const answer = await answering;
  const body = await answer.arrayBuffer();
  return new Response(answer.status === 204 ? null : body, { status: answer.status, headers: answer.headers });
}
