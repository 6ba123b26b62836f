import type { RelayConfig } from '../../lib/config/schema.ts';
import { type Job, type JobStatus, newsOf } from '../../lib/engine/record/job.ts';
import { openStores, type Runtime, type Stores, systemRuntime } from '../../lib/runtime.ts';
import { createBreakers } from '../../lib/service/connection/breakers.ts';
import { budgetIdOf } from '../../lib/service/connection/connection.ts';
import { jobsByStatus, keys, waitingLine } from '../../lib/state/table/keys.ts';
import { deliver } from '../../local/event-source.ts';
import { FifoQueue } from '../../local/fifo-queue.ts';
import { type SlackStandIn, startSlackStandIn } from '../../local/slack/stand-in.ts';
import { nextMoment } from '../../local/trial/next-moment.ts';
import { defaultKey, type Sandbox, type SandboxOptions, startSandbox } from '../../sandbox/sandbox.ts';
import { GRANTS_KEY } from '../as-person/linked.ts';
import { type GithubApi, startGithubApi } from '../github-api.ts';
import { privateKey } from '../github-identity.ts';
import { SIGNING_SECRET, type TestClock, WEBHOOK_SECRET } from '../relay.ts';
import { DynamoDbModel } from '../simulation/dynamodb-model.ts';
import { VARIABLES } from '../simulation/world.ts';
import { type Host, startKillableHosts } from './killable-hosts.ts';
import { createOutside } from './outside.ts';
import type { FunctionSlug, Trial, TrialResult, UnderWay } from './trial.ts';

const WORKER_TIMEOUT_MS = 60_000;
const VISIBILITY_TIMEOUT_MS = 90_000;
const BOT_TOKEN = 'xoxb-of-the-tests';
export interface KillableRelay {
  clock: TestClock;
  sandbox: Sandbox;
  github: GithubApi;
  slack: SlackStandIn;
  stores: Stores;
  try(trial: Trial): Promise<TrialResult>;
  close(): Promise<void>;
}

/** Partner Relay on hosts that stop, one trial after the other. */
export async function startKillableRelay(
  config: (urls: { github: string; slack: string }) => RelayConfig,
  sandboxOptions: SandboxOptions,
): Promise<KillableRelay> {
  const clock: TestClock = { now: Date.parse('2026-11-20T10:00:00Z') };
  const read = () => clock.now;
  const queues = ['interactive.fifo', 'background.fifo'].map(
    (name) => new FifoQueue(name, read, { visibilityTimeoutMs: VISIBILITY_TIMEOUT_MS }),
  );
  const sandbox = await startSandbox({
    clock: read,
    rateLimit: { perMinute: 1_000_000, perDay: 1_000_000 },
    ...sandboxOptions,
  });
  const github = await startGithubApi(read);
  const slack = await startSlackStandIn({ clock: read, botToken: BOT_TOKEN });
  const secrets = {
    'partner/main': { baseUrl: sandbox.url, ...defaultKey },
    'instance/main': { baseUrl: sandbox.url },
    'github-webhook': { webhookSecret: WEBHOOK_SECRET },
    github: { token: 'ghp_test', appId: '12', privateKey },
    slack: { signingSecret: SIGNING_SECRET, botToken: BOT_TOKEN },
    grants: GRANTS_KEY,
    markers: { key: 'another key of the tests, long enough' },
    intake: { key: 'one more key of the tests, long enough' },
  };
  // The functions read them as soon as they are loaded.
  Object.assign(process.env, VARIABLES);
  const settings = config({ github: github.url, slack: `${slack.url}/api` });
  const aws = {
    table: new DynamoDbModel([jobsByStatus, waitingLine], (_key, apply) => apply()),
    queues: new Map(queues.map((queue) => [queue.name, queue])),
    secrets: new Map(
      Object.entries(secrets).map(([name, secret]) => [VARIABLES.SECRET_PREFIX + name, JSON.stringify(secret)]),
    ),
    clock: read,
    // Or one trial's side effects would not have the numbers of another's.
    losesOneIn: Number.POSITIVE_INFINITY,
  };
  const hosts = await startKillableHosts({ clock, aws, sandbox, slackUrl: slack.url, config: settings });
  const direct: Runtime = { ...systemRuntime(settings, VARIABLES), clock: read };
  const stores = openStores(direct);
  const breakers = createBreakers({ table: stores.table, clock: read, random: Math.random });

  async function jobsOf(...statuses: JobStatus[]): Promise<Job[]> {
    const options = { limit: 100, newestFirst: true };
    return (await Promise.all(statuses.map((status) => stores.jobs.list(status, options)))).flat();
  }
  const jobsUnderWay = () => jobsOf('queued', 'running', 'waiting');

  async function attempt(trial: Trial): Promise<TrialResult> {
    const underWay: UnderWay = {
      ...trial,
      happenings: [],
      effects: [],
      sends: 0,
      late: undefined,
      stopped: 0,
      logged: [],
    };
    const startedAt = clock.now;
    const { sweeps, redelivers } = trial.recovery ?? { sweeps: 'always', redelivers: 'at once' };
    let host = hosts.start(underWay);
    const used = [host];

    const jobsOfTrial = async () =>
      (await jobsOf('queued', 'running', 'waiting', 'succeeded', 'parked')).filter((job) => job.createdAt >= startedAt);

    /** @returns undefined where the host stopped meanwhile; another one takes its place */
    async function invoke<T>(slug: FunctionSlug, call: (host: Host) => Promise<T>): Promise<T | undefined> {
      const on = host;
      on.asked = slug;
      const ended = on.run(() => call(on));
      const stopped = Symbol();
      const first = await Promise.race([ended, on.stopped.then(() => stopped)]);
      if (first !== stopped) return first as T;
      await Promise.allSettled(on.left);
      on.unfinished.push(ended);
      ended.catch(() => {});
      host = hosts.start(underWay);
      used.push(host);
      return undefined;
    }

    const mayFail = trial.stops?.some(({ when }) => when === 'refused' || when === 'silent') ?? false;
    /** An invocation that failed. Its message stays, and its schedule fires again. */
    const failed = (error: unknown) => {
      if (!mayFail) throw error;
    };
    const outside = createOutside({ clock, slack, invoke, mayFail });

    async function work(): Promise<void> {
      for (const queue of queues) {
        for (let message = queue.receive(); message; message = queue.receive()) {
          const received = message;
          const deadline = clock.now + WORKER_TIMEOUT_MS;
          const context = { getRemainingTimeInMillis: () => deadline - clock.now, awsRequestId: '', functionName: '' };
          // A stopped host reports nothing, so its message stays.
          await invoke('job-worker', (on) => deliver(queue, received, (event) => on.worker()(event, context))).catch(
            failed,
          );
        }
      }
    }

    async function workToTheEnd(): Promise<void> {
      for (let round = 0; round < 100; round++) {
        await work();
        const messages = Math.min(...queues.map((queue) => queue.nextWakeAt()));
        const patient = sweeps === 'last' && messages !== Number.POSITIVE_INFINITY;
        const open = patient ? [] : await jobsUnderWay();
        if (!patient && open.length === 0 && messages === Number.POSITIVE_INFINITY) return;
        clock.now = nextMoment(clock.now, queues, open);
        if (!patient)
          await invoke('job-sweep', (on) => on.sweep()({}, { getRemainingTimeInMillis: () => 60_000 })).catch(failed);
      }
      const open = (await jobsUnderWay()).map(
        (job) => `${job.id} ${job.status} ${job.generation} ${job.attempts} ${job.wakeAt - clock.now} ${newsOf(job)}`,
      );
      const last = underWay.effects.slice(-12).map(({ what }) => what);
      throw new Error(`the relay does not come to rest: ${open.join('; ')}; ${last.join(', ')}`);
    }

    const unanswered = [];
    for (const incoming of trial.incoming) {
      let answered = await outside.bring(incoming);
      while (!answered && redelivers === 'at once') answered = await outside.bring(incoming);
      if (!answered) unanswered.push(incoming);
      await work();
    }
    await workToTheEnd();
    for (const incoming of unanswered) while (!(await outside.bring(incoming)));
    await workToTheEnd();

    if (trial.comesBack) {
      for (const one of used.filter(({ gate }) => gate)) {
        one.comeBack();
        await Promise.allSettled(one.unfinished);
      }
      await workToTheEnd();
    }
    await underWay.late?.();
    const jobs = await jobsOfTrial();
    // The next trial must find the relay as this one did, so that its side effects have the same numbers.
    await Promise.all([
      breakers.closeAll('main'),
      stores.table.delete(keys.budget(budgetIdOf({ baseUrl: sandbox.url, ...defaultKey }))),
      stores.table.delete(keys.slackWorkspace()),
    ]);
    clock.now += 120_000;
    const { effects, stopped, logged } = underWay;
    const { acknowledged, typed } = outside;
    const happenings = [...underWay.happenings];
    for (const one of used) one.forget();
    return { happenings, effects, sends: underWay.sends, stops: stopped, jobs, acknowledged, typed, logged };
  }

  return {
    clock,
    sandbox,
    github,
    slack,
    stores,
    try: attempt,
    async close() {
      hosts.close();
      await Promise.all([github.close(), slack.close(), sandbox.close()]);
    },
  };
}
