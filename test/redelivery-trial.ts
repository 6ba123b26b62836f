import type { RedeliveryReport } from '../lib/platforms/github/redelivery/redelivery.ts';
import type { Runtime } from '../lib/runtime.ts';
import { contextUntil, functionsOf } from '../local/world/functions.ts';
import { befallenBy, Process } from './fuzz/process.ts';
import { type GithubHooksApi, type StandInHook, startGithubHooksApi } from './github-hooks-api.ts';
import { APP } from './github-identity.ts';
import { issueEvent } from './issue-events.ts';
import { exampleConfig, startRelay, type TestRelay, WEBHOOK_SECRET } from './relay.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

const REPOSITORY = 'Codertocat/Hello-World';
const LOGIN = 'Codertocat';

export { APP };
/** For the `github` secret. */
export const TOKEN = { token: 'ghp_canary' };

export const ofRepository = (id = '101'): StandInHook => ({
  kind: 'repository',
  id,
  targetId: '186853002',
  target: REPOSITORY,
});
export const ofOrganization = (): StandInHook => ({
  kind: 'organization',
  id: '201',
  targetId: '38302899',
  target: LOGIN,
});
export const ofApp = (appId = '12'): StandInHook => ({
  kind: 'integration',
  id: '301',
  targetId: appId,
  target: appId,
});

/** A relay, and a GitHub whose hooks deliver to it. */
export interface RedeliveryTrial {
  relay: TestRelay;
  github: GithubHooksApi;
  hook: StandInHook;
  /** The number of opened issues. */
  issues: number;
  /** Creates a hook, which GitHub announces to it at once. */
  ping(hook: StandInHook): Promise<string>;
  /** Opens an issue, which a hook delivers. @returns the GUID of the delivery */
  opened(hook?: StandInHook, listedAfterMs?: number): Promise<string>;
  /** Runs the schedule in the process of the last run. */
  run(): Promise<RedeliveryReport>;
  /** Runs the schedule in a new process. */
  runInNewProcess(runtime?: Partial<Runtime>): Promise<RedeliveryReport>;
  /**
   * Runs the schedule in a process that dies at its nth request to GitHub or the table. @returns whether there were
   * that many
   */
  runAndDie(at: number, isCarriedOut: boolean): Promise<boolean>;
  /** Lets time pass, with a run every quarter of an hour. */
  pass(ms: number, meanwhile?: () => Promise<unknown>): Promise<void>;
  close(): Promise<void>;
}

export interface RedeliveryTrialOptions {
  /** The `github` secret. */
  secret?: object;
  /** Empty if no delivery can be verified yet. */
  webhookSecret?: string;
  hook?: StandInHook;
  /** `/api/v3` for a GitHub Enterprise Server. */
  apiPath?: string;
  environment?: Partial<Runtime['environment']>;
}

export async function startRedeliveryTrial(options: RedeliveryTrialOptions = {}): Promise<RedeliveryTrial> {
  const { secret = TOKEN, webhookSecret = WEBHOOK_SECRET, hook = ofRepository(), apiPath = '' } = options;
  const { environment = {} } = options;
  const github = await startGithubHooksApi({
    clock: () => relay.clock.now,
    deliverTo: () => relay.url,
    token: TOKEN.token,
    appId: APP.appId,
  });
  const config = exampleConfig({}, { apiUrl: github.url + apiPath });
  const relay = await startRelay({ config, github: secret, webhookSecret, environment });
  const { clock, runtime } = relay;

  const trial: RedeliveryTrial = {
    relay,
    github,
    hook,
    issues: 0,
    ping: (of) => github.deliver(of, 'ping', { repository: { full_name: REPOSITORY }, organization: { login: LOGIN } }),
    opened(of = hook, listedAfterMs = 0) {
      const extra = { organization: { login: LOGIN } };
      const event = issueEvent('opened', { id: ++trial.issues, title: 'canary', extra });
      return github.deliver(of, 'issues', event, listedAfterMs);
    },
    run: () => relay.fire('github-redelivery') as Promise<RedeliveryReport>,
    runInNewProcess(other = {}) {
      const { fire } = functionsOf(() => ({ ...runtime, ...other }));
      return fire(
        'github-redelivery',
        {},
        contextUntil(HOUR, () => 0),
      ) as Promise<RedeliveryReport>;
    },
    async runAndDie(at, isCarriedOut) {
      const death = { at: at - 1, what: isCarriedOut ? 'dies after' : 'dies before' } as const;
      const mortal = new Process(befallenBy([death]), runtime.sleep);
      const mortally: Partial<Runtime> = {
        fetch: (input, init) => Process.pass(() => fetch(input, init), false),
        log: { info: () => {}, warn: () => {}, error: () => {} },
      };
      const state = await mortal.start(async () => {
        await trial.runInNewProcess(mortally).catch(() => {});
      });
      return state === 'died';
    },
    async pass(ms, meanwhile = async () => undefined) {
      for (const end = clock.now + ms; clock.now < end; ) {
        const next = clock.now + 15 * MINUTE;
        await meanwhile();
        clock.now = Math.max(clock.now, next);
        await trial.run();
      }
    },
    async close() {},
  };
  await trial.ping(hook);
  return trial;
}
