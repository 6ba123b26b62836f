import { RequestError } from '@octokit/request-error';
import * as z from 'zod';
import type { AuthorizedGithub, GithubClient } from './github-client.ts';
import type { Hook } from './hooks.ts';
import { passingFailure } from './passing-failure.ts';
import type { Attempt } from './redelivery-decision.ts';

/** GitHub takes no more requests for this hook now. The next run tries again. */
export class NotNow extends Error {
  override readonly name = 'NotNow';
}

/** The credentials lack the right, or the hook does not exist: GitHub answers 404 to both. */
export class HookRefused extends Error {
  override readonly name = 'HookRefused';
  /** GitHub's answer; undefined if the secret holds nothing to ask with. */
  readonly status: number | undefined;

  constructor(why: string, status?: number) {
    super(why);
    this.status = status;
  }
}

/** The deliveries of one hook. */
export interface HookDeliveries {
  /**
   * One page of the attempts, newest first. `next` is the cursor of the page after it.
   * @throws {NotNow | HookRefused}
   */
  list(cursor?: string): Promise<{ attempts: Attempt[]; next: string | undefined }>;
  /**
   * Asks for another attempt.
   * @returns false if GitHub refuses this one attempt
   * @throws {NotNow | HookRefused}
   */
  redeliver(attemptId: string): Promise<boolean>;
}

const PAGE_SIZE = 100;
/** The share of a rate limit that is left to comments and to other users of the credentials. */
const LEFT_TO_OTHERS = 0.1;

/** The credentials that each kind of hook needs, in GitHub's words. */
const needed = {
  integration: 'the appId and the privateKey of the App that the hook belongs to',
  repository: permitted("an administrator's classic token with admin:repo_hook", 'repository'),
  organization: permitted("an owner's classic token with admin:org_hook", 'organization'),
};

type Way = () => Promise<AuthorizedGithub | undefined>;

export function createRedeliveryApi(github: GithubClient, clock: () => number): (hook: Hook) => HookDeliveries {
  /** Until when not to ask with some credentials, in epoch milliseconds. */
  const limits = new Map<string, number>();

  /** A secret can hold both a token and an App, of which either may lack the right. */
  function waysTo({ kind, target, id }: Hook): Way[] {
    if (kind === 'integration') return [() => asAppOfHook(id)];
    const place = kind === 'repository' ? { repository: target } : { organization: target };
    return [() => github.at(place, 'token'), () => github.at(place, 'app')];
  }

  async function asAppOfHook(id: string): Promise<AuthorizedGithub | undefined> {
    const app = await github.asApp();
    // GitHub lists the deliveries of the App that asks. A client id does not tell whether that is the one of the hook.
    if (!app || app.appId === id || !/^\d+$/.test(app.appId)) return app;
    throw new HookRefused(`it is the hook of the App ${id}, and the github secret has the App ${app.appId}`);
  }

  function waitForLimit(as: string): void {
    const until = limits.get(as) ?? 0;
    if (until > clock()) throw new NotNow(`GitHub's rate limit, until ${new Date(until).toISOString()}`);
  }

  /** https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api */
  function noteLimit(as: string, headers: Readonly<Record<string, string | number | undefined>>): void {
    const isLow = Number(headers['x-ratelimit-remaining']) < Number(headers['x-ratelimit-limit']) * LEFT_TO_OTHERS;
    if (isLow) limits.set(as, Number(headers['x-ratelimit-reset']) * 1000);
  }

  /** Turns GitHub's refusal into what it means. @returns the error itself if it concerns this one request alone */
  function meaningOf(error: unknown, as: string, kind: Hook['kind']): unknown {
    if (!(error instanceof RequestError)) return error;
    const { status } = error;
    const passing = passingFailure(error, clock());
    if (passing?.limitedUntil !== undefined) limits.set(as, passing.limitedUntil);
    if (passing) return new NotNow(passing.why, { cause: error });
    if (status === 401) github.suspectCredentials();
    if (![401, 403, 404].includes(status)) return error;
    return new HookRefused(`GitHub answered ${status}; it takes ${needed[kind]}`, status);
  }

  return (hook) => {
    const { kind } = hook;
    const path = pathOf(hook);
    const ways = waysTo(hook);
    let refusal = new HookRefused(`the github secret lacks ${needed[kind]}`);
    /** Once GitHub has redelivered something, a 404 no longer means a missing right. */
    let mayRedeliver = false;

    async function ask(way: Way, request: string, parameters: Record<string, unknown>) {
      let as = 'authorization';
      try {
        waitForLimit(as);
        const authorized = await way();
        if (!authorized) return undefined;
        as = authorized.as;
        waitForLimit(as);
        const answer = await authorized.request(request, parameters);
        noteLimit(as, answer.headers);
        return answer;
      } catch (error) {
        throw meaningOf(error, as, kind);
      }
    }

    async function call(request: string, parameters: Record<string, unknown> = {}) {
      for (const way of [...ways]) {
        try {
          const answer = await ask(way, request, parameters);
          if (answer) return answer;
        } catch (error) {
          if (!(error instanceof HookRefused) || (mayRedeliver && error.status === 404)) throw error;
          refusal = error;
        }
        ways.shift();
      }
      throw refusal;
    }

    return {
      async list(cursor) {
        try {
          const { data, headers } = await call(`GET ${path}`, { per_page: PAGE_SIZE, ...(cursor && { cursor }) });
          return { attempts: readAttempts(data), next: nextCursor(headers.link) };
        } catch (error) {
          // The first page, without a cursor, has shown that the hook can be listed.
          const isCursor = cursor !== undefined && error instanceof HookRefused && error.status === 404;
          if (!isCursor && !(error instanceof RequestError)) throw error;
          throw new NotNow(`GitHub answered ${error.status} to the list`, { cause: error });
        }
      },
      async redeliver(attemptId) {
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
    };
  };
}

const attempt = z
  .object({
    id: z.union([z.int(), z.bigint()]),
    guid: z.string().min(1),
    event: z.string(),
    delivered_at: z.iso.datetime({ offset: true }),
    redelivery: z.boolean().nullish(),
    status_code: z.number().nullish(),
  })
  .transform(
    (item): Attempt => ({
      id: String(item.id),
      guid: item.guid,
      event: item.event,
      deliveredAt: Date.parse(item.delivered_at),
      isRedelivery: item.redelivery ?? false,
      statusCode: item.status_code ?? 0,
    }),
  );

function readAttempts(data: unknown): Attempt[] {
  const parsed = z.array(attempt).safeParse(data);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.') || '(whole)'}: ${message}`);
  throw new Error(`GitHub's list of deliveries cannot be read: ${faults.slice(0, 5).join('; ')}`);
}

/** https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api#using-link-headers */
function nextCursor(link: string | undefined): string | undefined {
  const next = /<([^>]+)>;\s*rel="next"/.exec(link ?? '')?.[1];
  return (next && new URL(next).searchParams.get('cursor')) || undefined;
}

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
