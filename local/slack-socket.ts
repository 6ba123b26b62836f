import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod';
import { parsedJson } from '../lib/text.ts';
import { signedBySlack } from './examples/signed-request.ts';

/** Slack refuses the app-level token, or Socket Mode is off, so another try would not help. */
export class SocketRefused extends Error {
  override readonly name = 'SocketRefused';
}

/** The webhook's answer. */
interface WebhookAnswer {
  status: number;
  body: string;
}

export interface SlackSocketOptions {
  /** `https://slack.com/api` */
  apiUrl: string;
  /** `xapp-…`, with the scope `connections:write`. */
  appToken: string;
  signingSecret: () => Promise<string>;
  /** Sends a request to the relay's webhook, as Slack would. */
  hand: (
    path: '/slack/commands' | '/slack/interactions',
    request: ReturnType<typeof signedBySlack>,
  ) => Promise<WebhookAnswer>;
  /** Called when a connection is ready. */
  connected: () => void;
  /** Called with an error. The next try follows, unless it is a {@link SocketRefused}. */
  failed: (error: unknown) => void;
  /** For tests: the first pause after a failure, and how long to wait for a silent connection. */
  firstPauseMs?: number;
  silenceMs?: number;
}

export type SlackSocket = ReturnType<typeof startSlackSocket>;

const CALL_TIMEOUT_MS = 10_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** After the machine slept, a connection may be dead, and a silent WebSocket does not show that. */
const SILENCE_MS = 5 * 60_000;
/** How long to keep an old connection, because Slack may still send to it. */
const OVERLAP_MS = 10_000;

/** The errors of apps.connections.open about the token or the app, which do not go away by themselves. */
const LASTING =
  /^(not_authed|invalid_auth|account_inactive|token_revoked|token_expired|not_allowed_token_type|access_denied|no_permission|missing_scope|missing_args|team_access_not_granted|user_removed_from_team|team_disabled|forbidden_team)$/;

const opened = z.union([
  z.object({ ok: z.literal(true), url: z.url() }),
  z.object({ ok: z.literal(false), error: z.string() }),
]);

const envelope = z.union([
  z.object({ type: z.literal('hello') }),
  z.object({ type: z.literal('disconnect'), reason: z.string().default('') }),
  z.object({
    type: z.string(),
    envelope_id: z.string(),
    payload: z.record(z.string(), z.unknown()),
    accepts_response_payload: z.boolean().default(false),
  }),
]);
type SocketEnvelope = Extract<z.output<typeof envelope>, { envelope_id: string }>;

/**
 * Brings Slack's commands and interactions to a relay that Slack cannot reach, by Socket Mode. Each goes through the
 * relay's webhook with a signature. It is acknowledged only after the webhook answered 200, with the answer's body as
 * payload.
 *
 * @see https://docs.slack.dev/apis/events-api/using-socket-mode
 */
export function startSlackSocket(options: SlackSocketOptions) {
  const { hand, connected, failed, signingSecret, firstPauseMs = FIRST_PAUSE_MS, silenceMs = SILENCE_MS } = options;
  const sockets = new Set<WebSocket>();
  const stopping = Promise.withResolvers<void>();
  let isStopped = false;

  /** Keeps a connection open. @throws {SocketRefused} if no further try can succeed */
  async function run(): Promise<void> {
    for (let pauseMs = firstPauseMs; !isStopped; ) {
      const begunAt = Date.now();
      try {
        await serve(await openUrl(options));
        // Without a pause, a connection that Slack cuts after each greeting would be reopened in a loop.
        if (isStopped || Date.now() - begunAt >= pauseMs) {
          pauseMs = firstPauseMs;
          continue;
        }
        throw new Error('the connection to Slack ended right after it was opened');
      } catch (error) {
        if (error instanceof SocketRefused) throw error;
        failed(error);
        await Promise.race([pause(pauseMs, undefined, { ref: false }), stopping.promise]);
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      }
    }
  }

  /**
   * Serves one connection. @returns when the next one should be opened; this one may stay open for a while
   * @throws {Error} if the connection ended without Slack's greeting
   */
  function serve(url: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const socket = new WebSocket(url);
    sockets.add(socket);
    let isGreeted = false;
    let heardAt = Date.now();
    const watch = setInterval(() => Date.now() - heardAt > silenceMs && next(), silenceMs / 10);
    const next = () => {
      clearInterval(watch);
      setTimeout(() => socket.close(), OVERLAP_MS).unref();
      resolve();
    };
    socket.addEventListener('message', ({ data }) => {
      heardAt = Date.now();
      const read = envelope.safeParse(parsedJson(String(data))).data;
      if (!read) return failed(new Error('Slack sent something that cannot be read'));
      if ('envelope_id' in read) return void answer(socket, read).catch(failed);
      if (read.type === 'hello') {
        isGreeted = true;
        connected();
      } else if (read.reason === 'link_disabled') {
        reject(new SocketRefused('Socket Mode is off for the app: turn it on in its settings, and start again'));
      } else next();
    });
    socket.addEventListener('close', () => {
      clearInterval(watch);
      sockets.delete(socket);
      isGreeted || isStopped ? resolve() : reject(new Error('Slack closed the connection before its greeting'));
    });
    return promise;
  }

  async function answer(socket: WebSocket, { type, envelope_id, payload, ...given }: SocketEnvelope): Promise<void> {
    const acknowledge = (more: object = {}) => socket.send(JSON.stringify({ envelope_id, ...more }));
    const form = formOf(type, payload);
    // The relay subscribes to no events. Without an acknowledgement, Slack would send this again and again.
    if (!form) return acknowledge();
    const path = type === 'slash_commands' ? '/slack/commands' : '/slack/interactions';
    const { status, body } = await hand(path, signedBySlack(form, await signingSecret()));
    if (status !== 200)
      throw new Error(`the relay answered ${status} to a request from Slack, so it is not acknowledged`);
    const response = body === '' ? undefined : parsedJson(body);
    acknowledge(response !== undefined && given.accepts_response_payload ? { payload: response } : {});
  }

  const running = run().catch(failed);
  return {
    async close(): Promise<void> {
      isStopped = true;
      stopping.resolve();
      for (const socket of sockets) socket.close();
      await Promise.race([running, pause(OVERLAP_MS, undefined, { ref: false })]);
    },
  };
}

/** The request that Slack would send to a URL. @see https://docs.slack.dev/apis/events-api/using-socket-mode#events */
function formOf(type: string, payload: Record<string, unknown>): URLSearchParams | undefined {
  if (type === 'interactive') return new URLSearchParams({ payload: JSON.stringify(payload) });
  if (type !== 'slash_commands') return undefined;
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(payload)) {
    if (value !== null && typeof value !== 'object') form.set(name, String(value));
  }
  return form;
}

/** https://docs.slack.dev/reference/methods/apps.connections.open */
async function openUrl({ apiUrl, appToken }: SlackSocketOptions): Promise<string> {
  const response = await fetch(`${apiUrl}/apps.connections.open`, {
    method: 'POST',
    headers: { authorization: `Bearer ${appToken}`, 'content-type': 'application/x-www-form-urlencoded' },
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
  }).catch((cause: unknown) => {
    throw new Error('Slack did not answer apps.connections.open', { cause });
  });
  const read = opened.safeParse(await response.json().catch(() => undefined)).data;
  if (!read) throw new Error(`Slack answered apps.connections.open with status ${response.status}`);
  if (read.ok) return read.url;
  if (!LASTING.test(read.error)) throw new Error(`Slack refuses apps.connections.open: ${read.error}`);
  throw new SocketRefused(
    `Slack refuses SLACK_APP_TOKEN (${read.error}): use an app-level token (xapp-…) with the scope connections:write`,
  );
}
