import { RequestError } from '@octokit/request-error';
import type { AuthorizedGithub, GithubClient } from './github-client.ts';
import type { Hook } from './hooks.ts';
import { rateLimitEnd } from './rate-limit.ts';
import { type Attempt, nextCursor, readAttempts } from './redelivery-attempt.ts';

/** Nothing more can be asked for this hook now; another time it can. */
export class NotNow extends Error {
  override readonly name: string = 'NotNow';
  /** Whether what was asked last may have been done all the same. */
  readonly mayBeDone: boolean;

  constructor(why: string, { mayBeDone = false, ...options }: ErrorOptions & { mayBeDone?: boolean } = {}) {
    super(why, options);
    this.mayBeDone = mayBeDone;
  }
}

/** The credentials may not do this with the hook, or there is no such hook: GitHub answers 404 to both. */
export class HookRefused extends Error {
  override readonly name = 'HookRefused';
  /** Undefined where nothing was asked, because there are no credentials for such a hook. */
  readonly status: number | undefined;

  constructor(why: string, status?: number) {
    super(why);
    this.status = status;
  }
}

/** GitHub does not take the cursor of an earlier run any more. */
export class CursorRefused extends NotNow {
  override readonly name = 'CursorRefused';
}

/** What a hook delivered, and the way to have it delivered again. */
export interface HookDeliveries {
  /**
   * One page of the attempts, from the newest on.
   *
   * @returns `next` is the cursor of the page after it
   * @throws {NotNow | HookRefused | CursorRefused}
   */
  list(cursor?: string): Promise<{ attempts: Attempt[]; next: string | undefined }>;
  /**
   * Asks for another attempt.
   *
   * @returns whether GitHub took it, has nothing of that id any more, or does not want to
   * @throws {NotNow | HookRefused}
   */
  redeliver(attemptId: string): Promise<'asked' | 'gone' | 'rejected'>;
}

export interface RedeliveryApi {
  /** Whether there are any credentials. */
  isOn(): Promise<boolean>;
  /** @throws {NotNow | HookRefused} */
  open(hook: Hook): Promise<HookDeliveries>;
}

const PAGE_SIZE = 100;
/** So much of a rate limit is left to the comments, and to whoever else uses the same credentials. */
const LEFT_TO_OTHERS = 0.1;

/**
 * https://docs.github.com/en/rest/repos/webhooks, https://docs.github.com/en/rest/orgs/webhooks and
 * https://docs.github.com/en/rest/apps/webhooks
 */
const lists = {
  integration: '/app/hook/deliveries',
  repository: '/repos/{owner}/{repo}/hooks/{hook_id}/deliveries',
  organization: '/orgs/{org}/hooks/{hook_id}/deliveries',
} as const;

/** What each kind of hook takes, as GitHub names it. */
const needed = {
  integration: 'the appId and the privateKey of the very App whose hook it is',
  repository: permitted("an administrator's classic token with admin:repo_hook", 'repository'),
  organization: permitted("an owner's classic token with admin:org_hook", 'organization'),
};

type Headers = Readonly<Record<string, string | number | undefined>>;

export function createRedeliveryApi(github: GithubClient, clock: () => number): RedeliveryApi {
  /** Until when nobody asks in a name, in epoch milliseconds. */
  const limits = new Map<string, number>();

  /** Whoever may speak for the hook. */
  async function authorize(hook: Hook): Promise<AuthorizedGithub> {
    const { kind, target } = hook;
    if (kind !== 'integration') {
      const authorized = await github.at(kind === 'repository' ? { repository: target } : { organization: target });
      if (authorized) return authorized;
      throw new HookRefused(`the github secret lacks ${needed[kind]}`);
    }
    const app = await github.asApp();
    if (!app) throw new HookRefused(`the github secret lacks ${needed.integration}`);
    // GitHub lists the deliveries of whichever App asks. A client id does not tell whether it is this one.
    if (/^\d+$/.test(app.appId) && app.appId !== target) {
      throw new HookRefused(`it is the hook of the App ${target}, and the github secret has the App ${app.appId}`);
    }
    return app;
  }

  /** @throws whatever GitHub refuses as what it means; as the RequestError where only the caller knows that */
  async function ask<T>(hook: Hook, who: string, isChange: boolean, call: () => Promise<T>): Promise<T> {
    const until = limits.get(who) ?? 0;
    if (until > clock()) throw rateLimited(until);
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const { status, message, response } = error;
      // Octokit reports a request without an answer as a 500.
      if (!response) throw new NotNow(`GitHub did not answer: ${message}`, { cause: error, mayBeDone: isChange });
      const limitedUntil = rateLimitEnd({ status, message, headers: response.headers }, clock());
      if (limitedUntil !== undefined) {
        limits.set(who, limitedUntil);
        throw rateLimited(limitedUntil);
      }
      if (status >= 500) throw new NotNow(`GitHub answered ${status}`, { mayBeDone: isChange });
      if (status === 401) github.suspectCredentials();
      if (status === 401 || status === 403 || (status === 404 && !isChange)) {
        throw new HookRefused(`GitHub answered ${status}; it takes ${needed[hook.kind]}`, status);
      }
      throw error;
    }
  }

  /** https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api */
  function noteLimit(who: string, headers: Headers): void {
    const isLow = Number(headers['x-ratelimit-remaining']) < Number(headers['x-ratelimit-limit']) * LEFT_TO_OTHERS;
    if (isLow) limits.set(who, Number(headers['x-ratelimit-reset']) * 1000);
  }

  return {
    isOn: () => github.isThere(),
    async open(hook) {
      const { as, request } = await ask(hook, 'authorization', false, () => authorize(hook));
      const place = placeOf(hook);
      const call = (method: 'GET' | 'POST', path: string, parameters: Record<string, unknown>) =>
        ask(hook, as, method === 'POST', async () => {
          const answer = await request(`${method} ${path}`, { ...place, ...parameters });
          noteLimit(as, answer.headers);
          return answer;
        });
      const path = lists[hook.kind];
      return {
        async list(cursor) {
          try {
            const { data, headers } = await call('GET', path, { per_page: PAGE_SIZE, ...(cursor && { cursor }) });
            return { attempts: readAttempts(data), next: nextCursor(headers.link) };
          } catch (error) {
            const status = error instanceof RequestError || error instanceof HookRefused ? error.status : undefined;
            // The hook itself has been found by then: the first page has no cursor.
            const isCursor = cursor !== undefined && status !== undefined && status !== 401 && status !== 403;
            throw isCursor ? new CursorRefused(`GitHub answered ${status} to its own cursor`, { cause: error }) : error;
          }
        },
        async redeliver(attemptId) {
          try {
            // As text, for Octokit drops the integers beyond what a number holds from a path.
            await call('POST', `${path}/{delivery_id}/attempts`, { delivery_id: attemptId });
            return 'asked';
          } catch (error) {
            if (!(error instanceof RequestError)) throw error;
            return error.status === 404 || error.status === 410 ? 'gone' : 'rejected';
          }
        },
      };
    },
  };
}

/** The parameters of the paths in {@link lists}. */
function placeOf({ kind, target, id }: Hook): Record<string, string> {
  if (kind === 'integration') return {};
  if (kind === 'organization') return { org: target, hook_id: id };
  const [owner = '', repo = ''] = target.split('/');
  return { owner, repo, hook_id: id };
}

function permitted(classicToken: string, of: 'repository' | 'organization'): string {
  return `${classicToken}, or a fine-grained token or an App with the ${of} permission "Webhooks" (read and write)`;
}

function rateLimited(until: number): NotNow {
  return new NotNow(`GitHub's rate limit, until ${new Date(until).toISOString()}`);
}
