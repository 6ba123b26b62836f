import type { Hook } from '../lib/platforms/github/redelivery/hooks.ts';
import { type Answer as Answered, answerOf, notFound } from '../local/github/answer.ts';
import { type GithubApi, startGithubApi } from './github-api.ts';
import { claimsOf } from './github-identity.ts';
import { githubDelivery } from './requests.ts';

/** A hook at GitHub. GitHub answers for a `deleted` hook as for an unknown one. */
export interface StandInHook extends Hook {
  /** `X-GitHub-Hook-Installation-Target-ID`: the id of the App, the repository or the organization. */
  targetId: string;
  deleted?: boolean;
}

/** A stored attempt, with the request for redeliveries. */
export interface StandInAttempt {
  id: bigint;
  guid: string;
  hook: StandInHook;
  event: string;
  payload: unknown;
  /** Epoch milliseconds. */
  deliveredAt: number;
  /** Epoch milliseconds; the attempt is not listed earlier. */
  listedAt: number;
  redelivery: boolean;
  statusCode: number;
}

interface Answer {
  status: number;
  message?: string;
  headers?: Record<string, string>;
}

/**
 * GitHub's hooks over HTTP: they deliver to the relay, list their attempts, and deliver again on request.
 * https://docs.github.com/en/rest/repos/webhooks#list-deliveries-for-a-repository-webhook
 */
export type GithubHooksApi = GithubApi & GithubHooks;

interface GithubHooks {
  /** The listed hooks of any repository or organization. */
  hooks: { id: number; active: boolean; events: string[]; config?: { url: string } }[];
  /** Oldest first. */
  attempts: StandInAttempt[];
  pageSize: number;
  /** How long attempts are listed. */
  keptForMs: number;
  /** What the App calls itself in its JWT: its id, or its client id. */
  appId: string;
  /** Answers instead; `cut` gives no answer, `cut after the work` loses it. */
  instead: (request: string, authorization: string) => Answer | 'cut' | 'cut after the work' | undefined;
  /** Every request counts it down, if it is set. */
  rateLimit: { limit: number; remaining: number; resetAt: number } | undefined;
  /** The status of an attempt that fails without reaching the relay; undefined for other attempts. */
  down: (guid: string) => number | undefined;
  /** Delivers an event from a hook. @returns the GUID of the delivery */
  deliver(hook: StandInHook, event: string, payload: unknown, listedAfterMs?: number): Promise<string>;
  /** A person asks GitHub for another attempt. */
  redeliver(guid: string): Promise<void>;
  /** The statuses of a delivery's attempts, in order. */
  statuses(guid: string): number[];
  /** How often the relay requested a delivery again. */
  asked(guid: string): number;
  /** The GUIDs of deliveries that the relay requested again although an attempt had arrived. */
  askedNeedlessly: string[];
}

export interface GithubHooksApiOptions {
  clock: () => number;
  /** The address to which hooks deliver. */
  deliverTo: () => string;
  /** The accepted token, besides the App. */
  token: string;
  appId: string;
}

/** GitHub's ids since 2026. */
const FIRST_ID = 3_804_004_623_172_239_366n;

export async function startGithubHooksApi(options: GithubHooksApiOptions): Promise<GithubHooksApi> {
  const { clock, deliverTo } = options;
  const asked: string[] = [];

  async function attempt(of: Pick<StandInAttempt, 'guid' | 'hook' | 'event' | 'payload'>, redelivery: boolean) {
    const made: StandInAttempt = {
      ...of,
      id: FIRST_ID + BigInt(api.attempts.length),
      deliveredAt: clock(),
      listedAt: clock(),
      redelivery,
      statusCode: 0,
    };
    made.statusCode = api.down(of.guid) ?? (await post(made));
    api.attempts.push(made);
    return made;
  }

  async function post({ guid, hook, event, payload }: StandInAttempt): Promise<number> {
    const { headers, body } = githubDelivery(event, payload, { id: guid });
    const ofHook = {
      'x-github-hook-id': hook.id,
      'x-github-hook-installation-target-type': hook.kind,
      'x-github-hook-installation-target-id': hook.targetId,
    };
    const answer = await fetch(deliverTo(), { method: 'POST', headers: { ...headers, ...ofHook }, body }).catch(
      () => {},
    );
    return answer?.status ?? 502;
  }

  function listed(path: string, isAllowed: (kind: Hook['kind']) => boolean): StandInAttempt[] | undefined {
    const hooks = api.attempts.map(({ hook }) => hook);
    const hook = hooks.find((one) => pathOf(one) === path && !one.deleted && isAllowed(one.kind));
    if (!hook) return undefined;
    return api.attempts
      .filter(
        (one) => pathOf(one.hook) === path && one.listedAt <= clock() && one.deliveredAt > clock() - api.keptForMs,
      )
      .sort((a, b) => b.deliveredAt - a.deliveredAt || Number(b.id - a.id));
  }

  const github = await startGithubApi(clock, async ({ method, url, route, authorization = '' }, answer) => {
    const [pathname = ''] = route.split(' ').slice(1);
    const asked = `${method} ${url.pathname}${url.search}`;
    api.requests.push(asked);
    const send = (answered: Answered | undefined): Answered | undefined =>
      answered && { ...answered, headers: { ...limited(api.rateLimit), ...answered.headers } };
    const instead = api.instead(asked, authorization);
    if (instead === 'cut') return undefined;
    if (instead && instead !== 'cut after the work') return send({ ...instead, body: { message: instead.message } });
    if (api.rateLimit && api.rateLimit.resetAt > clock() && --api.rateLimit.remaining < 0) {
      api.rateLimit.remaining = 0;
      return send(answerOf({ message: 'API rate limit exceeded' }, 403));
    }
    const isApp = authorization.split('.').length === 3 && String(claimsOf(authorization)?.iss) === api.appId;
    if (!isApp && /\/(installation|access_tokens)$/.test(pathname)) return send(notFound);
    const isToken = authorization === `token ${options.token}` || authorization === 'token ghs_installation';
    if (pathname.endsWith('/hooks')) return send(isToken ? answerOf(api.hooks) : notFound);
    const [, path = '', id] = /^(.+\/deliveries)(?:\/(\d+)(?:\/attempts)?)?$/.exec(pathname) ?? [];
    if (path === '') return send(answer());
    const answered = await answerDeliveries(
      path,
      id,
      url,
      (kind) => (kind === 'integration' ? isApp : isToken),
      method,
    );
    return method === 'POST' && instead ? undefined : send(answered);
  });

  async function answerDeliveries(
    path: string,
    id: string | undefined,
    { searchParams }: URL,
    isAllowed: (kind: Hook['kind']) => boolean,
    method = '',
  ): Promise<Answered> {
    const attempts = listed(path, isAllowed);
    if (!attempts) return notFound;
    const known = attempts.find((one) => one.id === BigInt(id ?? 0));
    if (id !== undefined && !known) return notFound;
    if (known && method === 'POST') {
      asked.push(known.guid);
      if (api.statuses(known.guid).some((status) => status >= 200 && status < 300))
        api.askedNeedlessly.push(known.guid);
      await attempt(known, true);
      return answerOf({}, 202);
    }
    if (known) return answerOf(asJson([known], true).subarray(1, -1));
    const cursor = searchParams.get('cursor');
    const from = cursor ? attempts.findIndex((one) => `v1_${one.id}` === cursor) : 0;
    if (from < 0) return answerOf({ message: 'Invalid cursor' }, 422);
    const to = from + Math.min(api.pageSize, Number(searchParams.get('per_page') ?? 30));
    const next = attempts[to];
    const link = next && `<${api.url}${path}?per_page=100&cursor=v1_${next.id}>; rel="next"`;
    return { ...answerOf(asJson(attempts.slice(from, to))), ...(link && { headers: { link } }) };
  }

  const own: GithubHooks = {
    hooks: [],
    attempts: [],
    pageSize: 100,
    keptForMs: 3 * 86_400_000,
    appId: options.appId,
    instead: () => undefined,
    rateLimit: undefined,
    down: () => undefined,
    async deliver(hook, event, payload, listedAfterMs = 0) {
      const guid = crypto.randomUUID();
      const made = await attempt({ guid, hook, event, payload }, false);
      made.listedAt += listedAfterMs;
      return guid;
    },
    async redeliver(guid) {
      const known = api.attempts.find((one) => one.guid === guid && one.listedAt <= clock());
      if (known) await attempt(known, true);
    },
    statuses: (guid) => api.attempts.filter((one) => one.guid === guid).map((one) => one.statusCode),
    asked: (guid) => asked.filter((one) => one === guid).length,
    askedNeedlessly: [],
  };
  const api: GithubHooksApi = Object.assign(github, own);
  return api;
}

function pathOf({ kind, target, id }: Hook): string {
  if (kind === 'integration') return '/app/hook/deliveries';
  return `/${kind === 'repository' ? 'repos' : 'orgs'}/${target}/hooks/${id}/deliveries`;
}

function limited(rate: GithubHooksApi['rateLimit']): Record<string, string> {
  if (!rate) return {};
  return {
    'x-ratelimit-limit': String(rate.limit),
    'x-ratelimit-remaining': String(rate.remaining),
    'x-ratelimit-reset': String(rate.resetAt / 1000),
  };
}

/**
 * JSON in which the ids are numbers, as at GitHub, although they are too large for JavaScript.
 * @param inFull with the request, as for a single delivery
 */
function asJson(attempts: StandInAttempt[], inFull = false): Buffer {
  const items = attempts.map(({ id, guid, deliveredAt, redelivery, statusCode, event, payload }) => ({
    id: `@${id}`,
    guid,
    delivered_at: new Date(deliveredAt).toISOString().replace(/\.\d+/, ''),
    redelivery,
    duration: 0.27,
    status: statusCode < 300 ? 'OK' : `Invalid HTTP Response: ${statusCode}`,
    // An attempt without an answer may have no status.
    status_code: statusCode || null,
    event,
    action: 'opened',
    installation_id: null,
    repository_id: 186853002,
    ...(inFull && {
      request: { headers: { 'X-GitHub-Event': event, 'X-GitHub-Delivery': guid }, payload },
      response: { headers: {}, payload: null },
    }),
  }));
  return Buffer.from(JSON.stringify(items).replaceAll(/"@(\d+)"/g, '$1'));
}
