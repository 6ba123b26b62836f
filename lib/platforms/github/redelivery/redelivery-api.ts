import { RequestError } from '@octokit/request-error';
import * as z from 'zod/mini';
import { type AuthorizedGithub, type GithubClient, pagesOf, type Query } from '../github-client.ts';
import { passingFailure } from '../passing-failure.ts';
import { instant, readPayload } from '../payload.ts';
import type { Hook } from './hooks.ts';

/** GitHub accepts no more requests for this hook now. The next run tries again. */
export class NotNow extends Error {
  override readonly name = 'NotNow';
}

/** The credentials lack a permission, or the hook does not exist: GitHub answers 404 in both cases. */
export class HookRefused extends Error {
  override readonly name = 'HookRefused';
  /** GitHub's status; undefined if the secret has no suitable credentials. */
  readonly status: number | undefined;

  constructor(why: string, status?: number) {
    super(why);
    this.status = status;
  }
}

/** One attempt at a delivery. All attempts share the delivery's GUID, and each has its own id. */
export interface Attempt {
  /** The id in digits, because JavaScript's numbers cannot hold it. */
  id: string;
  /** `X-GitHub-Delivery` */
  guid: string;
  /** `X-GitHub-Event` */
  event: string;
  /** Epoch milliseconds. */
  deliveredAt: number;
  /** False for the first attempt. */
  isRedelivery: boolean;
  /** The relay's status, or the status that GitHub records without an answer, such as 0 or 502. */
  statusCode: number;
}

export type HookDeliveries = ReturnType<ReturnType<typeof createRedeliveryApi>>;

const PAGE_SIZE = 100;
/** The share of a rate limit that is reserved for comments and other users of the credentials. */
const LEFT_TO_OTHERS = 0.1;

/** The credentials that each kind of hook requires, in GitHub's words. */
const needed = {
  integration: 'the appId and the privateKey of the App that the hook belongs to',
  repository: permitted("an administrator's classic token with admin:repo_hook", 'repository'),
  organization: permitted("an owner's classic token with admin:org_hook", 'organization'),
};

interface Way {
  /** The account whose rate limit counts. */
  as: string;
  authorize(): Promise<AuthorizedGithub | undefined>;
}

/** Lists and redelivers the deliveries of a hook. Every method may throw a {@link NotNow} or a {@link HookRefused}. */
export function createRedeliveryApi(github: GithubClient, clock: () => number) {
  /** When each way may be used again, in epoch milliseconds. */
  const limits = new Map<string, number>();

  /** The ways to send requests. A secret can have both a token and an App, and either may lack the permission. */
  function waysTo({ kind, target, id }: Hook): Way[] {
    if (kind === 'integration') return [{ as: 'app', authorize: () => asAppOfHook(id) }];
    const place = kind === 'repository' ? { repository: target } : { organization: target };
    return [
      { as: 'token', authorize: () => github.at(place, 'token') },
      { as: `installation of ${target.split('/', 1)}`, authorize: () => github.at(place, 'app') },
    ];
  }

  async function asAppOfHook(id: string): Promise<AuthorizedGithub | undefined> {
    const app = await github.asApp();
    // GitHub lists the deliveries of the App that asks. A client id does not show whether that App owns the hook.
    if (!app || app.appId === id || !/^\d+$/.test(app.appId)) return app;
    throw new HookRefused(`it is the hook of the App ${id}, and the github secret has the App ${app.appId}`);
  }

  /**
   * Sends a request in one way; undefined if the secret lacks its credentials.
   * @throws {RequestError} if GitHub refuses only this request
   */
  async function ask({ as, authorize }: Way, kind: Hook['kind'], request: string, parameters: Query) {
    const until = limits.get(as) ?? 0;
    if (until > clock()) throw new NotNow(`GitHub wants fewer requests until ${new Date(until).toISOString()}`);
    try {
      const authorized = await authorize();
      const answer = await authorized?.request(request, parameters);
      const { 'x-ratelimit-remaining': remaining, 'x-ratelimit-limit': limit, ...headers } = answer?.headers ?? {};
      const isLow = Number(remaining) < Number(limit) * LEFT_TO_OTHERS;
      if (isLow) limits.set(as, Number(headers['x-ratelimit-reset']) * 1000);
      return answer;
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const passing = passingFailure(error, clock());
      if (passing?.limitedUntil !== undefined) limits.set(as, passing.limitedUntil);
      if (passing) throw new NotNow(passing.why, { cause: error });
      if (error.status === 401) github.suspectCredentials();
      if (![401, 403, 404].includes(error.status)) throw error;
      throw new HookRefused(`GitHub answered ${error.status}; it takes ${needed[kind]}`, error.status);
    }
  }

  return (hook: Hook) => {
    const path = pathOf(hook);
    const ways = waysTo(hook);
    let refusal = new HookRefused(`the github secret lacks ${needed[hook.kind]}`);
    /** True once GitHub has redelivered something; then a 404 no longer means a missing permission. */
    let mayRedeliver = false;

    async function call(request: string, parameters: Query = {}) {
      for (const way of [...ways]) {
        try {
          const answer = await ask(way, hook.kind, request, parameters);
          if (answer) return answer;
        } catch (error) {
          if (!(error instanceof HookRefused) || (mayRedeliver && error.status === 404)) throw error;
          refusal = error;
        }
        ways.shift();
      }
      throw refusal;
    }

    async function page(query: Query) {
      try {
        const { data, headers } = await call(`GET ${path}`, query);
        return { data: readPayload('list of deliveries', attempts, data), headers };
      } catch (error) {
        // The first page, without a cursor, has shown that the list can be read.
        const isCursor = query.cursor !== undefined && error instanceof HookRefused && error.status === 404;
        if (!isCursor && !(error instanceof RequestError)) throw error;
        throw new NotNow(`GitHub answered ${error.status} to the list`, { cause: error });
      }
    }

    return {
      /** The attempts, newest first, page by page. */
      pages: () => pagesOf(page, { per_page: PAGE_SIZE }),
      /**
       * Requests another attempt.
       * @returns false if GitHub refuses this attempt
       */
      async redeliver(attemptId: string) {
        try {
          await call(`POST ${path}/${attemptId}/attempts`);
          mayRedeliver = true;
          return true;
        } catch (error) {
          const isGone = mayRedeliver && error instanceof HookRefused && error.status === 404;
          if (isGone || error instanceof RequestError) return false;
          throw error;
        }
      },
      /** Returns the payload of an attempt. */
      async payload(attemptId: string): Promise<Record<string, unknown>> {
        const { data } = await call(`GET ${path}/${attemptId}`);
        return readPayload('delivery', attempt, data).request.payload;
      },
    };
  };
}

const attempts = z.array(
  z.pipe(
    z.object({
      id: z.union([z.int(), z.bigint()]),
      guid: z.string().check(z.minLength(1)),
      event: z.string(),
      delivered_at: instant,
      redelivery: z.nullish(z.boolean()),
      status_code: z.nullish(z.number()),
    }),
    z.transform(({ id, guid, event, ...item }): Attempt => {
      const [isRedelivery, statusCode] = [item.redelivery ?? false, item.status_code ?? 0];
      return { id: String(id), guid, event, deliveredAt: Date.parse(item.delivered_at), isRedelivery, statusCode };
    }),
  ),
);

const attempt = z.object({ request: z.object({ payload: z.record(z.string(), z.unknown()) }) });

/**
 * https://docs.github.com/en/rest/repos/webhooks, https://docs.github.com/en/rest/orgs/webhooks and
 * https://docs.github.com/en/rest/apps/webhooks
 */
function pathOf({ kind, target, id }: Hook): string {
  if (kind === 'integration') return '/app/hook/deliveries';
  return `/${kind === 'repository' ? 'repos' : 'orgs'}/${target}/hooks/${id}/deliveries`;
}

function permitted(classicToken: string, of: 'repository' | 'organization'): string {
  return `${classicToken}, or a fine-grained token or an App with the ${of} permission "Webhooks" (read and write)`;
}
