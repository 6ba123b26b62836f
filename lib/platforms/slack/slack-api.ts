import * as z from 'zod/mini';
import { type Secrets, slackCredentials } from '../../state/secrets/secrets.ts';
import { PlatformRateLimited, PlatformUnanswered } from '../errors.ts';

/** The methods of Slack's Web API that the relay uses. https://docs.slack.dev/reference/methods */
export type SlackMethod =
  | 'auth.test'
  | 'chat.postMessage'
  | 'chat.update'
  | 'conversations.history'
  | 'conversations.info'
  | 'conversations.open'
  | 'usergroups.users.list'
  | 'users.info'
  | 'users.lookupByEmail'
  | 'views.open'
  | 'views.update';

export class SlackRefusal extends Error {
  override readonly name = 'SlackRefusal';
  readonly method: SlackMethod;
  /** Slack's error code, such as `channel_not_found`. */
  readonly error: string;

  constructor(method: SlackMethod, error: string) {
    super(`Slack refuses ${method}: ${error}`);
    this.method = method;
    this.error = error;
  }
}

const rateLimited = (method: SlackMethod, seconds: number) =>
  new PlatformRateLimited(`Slack wants fewer calls of ${method}`, seconds * 1000);

export interface SlackApi {
  /** True if there is a token. */
  isThere(): Promise<boolean>;
  /**
   * @param fields objects are sent as JSON, which every method accepts; undefined fields are left out
   * @param mayLeave called right before each request leaves; throws to stop it
   * @throws {SlackRefusal | PlatformRateLimited | PlatformUnanswered}
   */
  call<T>(
    method: SlackMethod,
    fields: Readonly<Record<string, unknown>>,
    answer: z.core.$ZodType<T>,
    mayLeave?: () => void,
  ): Promise<T>;
}

export interface SlackApiOptions {
  /** Such as `https://slack.com/api`. */
  apiUrl: string;
  secrets: Secrets;
  fetch: typeof globalThis.fetch;
  timeoutMs?: number;
}

const CALL_TIMEOUT_MS = 5_000;
const RETRY_AFTER_SECONDS = 30;

/** The token is invalid or revoked. It may have been rotated. */
export const TOKEN_ERRORS: ReadonlySet<string> = new Set([
  'invalid_auth',
  'not_authed',
  'token_expired',
  'token_revoked',
  'account_inactive',
]);

const envelope = z.looseObject({ ok: z.boolean(), error: z.optional(z.string()) });
type ApiEnvelope = z.output<typeof envelope>;

/** Slack's Web API, called with the bot's token. */
export function createSlackApi(options: SlackApiOptions): SlackApi {
  const { apiUrl, secrets, fetch, timeoutMs = CALL_TIMEOUT_MS } = options;
  const token = async () => (await secrets.current('slack', slackCredentials)).botToken;

  return {
    isThere: async () => Boolean(await token()),
    async call(method, fields, answer, mayLeave = () => {}) {
      const body = await ask(method, fields, mayLeave);
      // Reads the token again, because it may have been rotated since.
      const again = TOKEN_ERRORS.has(body.error ?? '') && secrets.refresh('slack');
      return read(method, again ? await ask(method, fields, mayLeave) : body, answer);
    },
  };

  async function ask(
    method: SlackMethod,
    fields: Readonly<Record<string, unknown>>,
    mayLeave: () => void,
  ): Promise<ApiEnvelope> {
    const bot = (await token()) ?? '';
    // Reading the token may have taken long.
    mayLeave();
    const response = await post(method, `${apiUrl}/${method}`, bot, fields);
    if (response.status === 429) {
      throw rateLimited(method, Number(response.headers.get('retry-after')) || RETRY_AFTER_SECONDS);
    }
    if (!response.ok) throw new PlatformUnanswered(`Slack answers ${method} with status ${response.status}`);
    const body = envelope.safeParse(await response.json().catch(() => undefined));
    if (!body.success) throw new PlatformUnanswered(`Slack's answer to ${method} cannot be read`);
    return body.data;
  }

  function read<T>(method: SlackMethod, body: ApiEnvelope, answer: z.core.$ZodType<T>): T {
    if (body.ok) {
      const { success, data } = z.safeParse(answer, body);
      if (success) return data;
      throw new PlatformUnanswered(`Slack's answer to ${method} cannot be read`);
    }
    const error = body.error ?? 'unknown';
    if (error === 'ratelimited') throw rateLimited(method, RETRY_AFTER_SECONDS);
    if (error === 'internal_error' || error === 'fatal_error' || error === 'service_unavailable') {
      throw new PlatformUnanswered(`Slack answers ${method} with ${error}`);
    }
    throw new SlackRefusal(method, error);
  }

  async function post(
    method: SlackMethod,
    url: string,
    token: string,
    fields: Readonly<Record<string, unknown>>,
  ): Promise<Response> {
    const form = new URLSearchParams();
    for (const [name, value] of Object.entries(fields)) {
      if (value === undefined) continue;
      form.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
    }
    try {
      return await fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: form,
        signal: AbortSignal.timeout(timeoutMs),
      });
    } catch (error) {
      throw new PlatformUnanswered(`Slack did not answer ${method}`, { cause: error });
    }
  }
}
