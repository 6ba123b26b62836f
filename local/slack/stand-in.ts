import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { listen } from '../listen.ts';
import { refusalOf } from '../own-key.ts';
import { readBody } from '../request-body.ts';
import { type Answer, json } from './answer.ts';
import { answerControl } from './control.ts';
import { type Failure, underFailure } from './failures.ts';
import { createResponseUrls, type RespondsTo, refusedResponse } from './response-urls.ts';
import { channels, people, userGroups } from './seed.ts';
import type { Clock } from './stamps.ts';
import { answerApiCall } from './web-api.ts';
import { createWorkspace, type Workspace } from './workspace.ts';

const MAX_BODY_BYTES = 1024 * 1024;

export interface SlackStandInOptions {
  clock: Clock;
  /** The only valid token. */
  botToken: string;
  /** The key that the command line must send. */
  controlKey?: string;
  /** Default: 0, which means any free port. */
  port?: number;
  /** Called with each answered call. The answer is undefined if the connection was cut. */
  called?: (call: SlackCall, answer: Answer | undefined) => void;
}

export interface SlackCall {
  /** Posts to response URLs have the method `response_url`. */
  method: string;
  url: string;
  body: string;
}

interface SlackRequest {
  /** Path and query. */
  url: string;
  authorization: string | undefined;
  body: string;
}

/** The workspace is live and may be changed. Removing a view closes it. */
export interface SlackInMemory
  extends Pick<Workspace, 'users' | 'channels' | 'installation' | 'userGroups' | 'messages' | 'views'> {
  /**
   * `http://127.0.0.1:8788`. It serves `/api/`, `/response/`, and for the command line `/messages` and `/response-url`.
   */
  url: string;
  /** Sets the app's scopes. Calls that need another scope are refused with `missing_scope`. Default: all scopes. */
  grant(scopes: Iterable<string>): void;
  /** Makes a URL for five messages within 30 minutes. */
  makeResponseUrl(about: RespondsTo): string;
  /** Makes an id for one modal within three seconds. */
  makeTriggerId(userId: string): string;
  /** Makes the next calls of a method fail. Further failures come after the earlier ones. */
  fail(failure: Failure): void;
}

export interface SlackStandIn extends SlackInMemory {
  close(): Promise<void>;
}

/**
 * The part of Slack that the relay uses, built from Slack's documentation, on 127.0.0.1 only, without rate limits,
 * threads or other apps. Where the documentation leaves a choice, the stand-in is strict.
 */
export async function startSlackStandIn(options: SlackStandInOptions): Promise<SlackStandIn> {
  const { port = 0, controlKey = randomUUID() } = options;
  const server = createServer((request, response) => {
    answerBody(request)
      .then((answered) =>
        answered ? response.writeHead(answered.status, answered.headers).end(answered.body) : response.destroy(),
      )
      .catch((error: unknown) => {
        response.destroy();
        // A client that disconnects while it sends is not an error of the stand-in.
        if (request.complete) throw error;
      });
  });
  const { url, close } = await listen(server, port);
  const { slack, workspace, answer } = createSlackStandIn(options, url);
  return { ...slack, close };

  async function answerBody(request: IncomingMessage): Promise<Answer | undefined> {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const bytes = await readBody(request, MAX_BODY_BYTES);
    if (!bytes) return json(413, { ok: false, error: 'request_too_large' });
    const [body, { authorization }] = [bytes.toString(), request.headers];
    if (/^\/(api|response)\//.test(path)) return answer({ url: path, authorization, body });
    const refusal = refusalOf(request.headers, controlKey);
    if (refusal !== undefined) return json(403, { error: refusal });
    return answerControl(`${request.method} ${path}`, body, workspace, slack.makeResponseUrl);
  }
}

/** The stand-in without a server. @param url for the addresses in its answers */
export function createSlackStandIn({ clock, botToken, called }: SlackStandInOptions, url: string) {
  const workspace = createWorkspace(clock, people, channels, userGroups);
  const responseUrls = createResponseUrls(workspace);
  const failures: { failure: Failure; left: number }[] = [];
  const slack: SlackInMemory = {
    ...workspace,
    url,
    grant(scopes) {
      workspace.scopes = new Set(scopes);
    },
    makeResponseUrl: (about) => `${url}/response/${responseUrls.make(about)}`,
    makeTriggerId: workspace.triggers.make,
    fail: (failure) => void failures.push({ failure, left: failure.times ?? 1 }),
  };

  /** @returns undefined if the connection must be cut */
  function answer({ url: path, authorization, body }: SlackRequest): Answer | undefined {
    const [, kind, rest = ''] = /^\/(api|response)\/(.*)$/.exec(path) ?? [];
    const isCall = kind === 'api';
    const method = isCall ? rest : 'response_url';
    const due = failures.find(({ failure, left }) => failure.method === method && left > 0);
    if (due) due.left -= 1;
    const work = () =>
      isCall ? answerApiCall(workspace, botToken, method, authorization, body) : responseUrls.respond(rest, body);
    const refuse = isCall ? (error: string) => json(200, { ok: false, error }) : refusedResponse;
    const answered = underFailure(due?.failure, work, refuse);
    called?.({ method, url: url + path, body }, answered);
    return answered;
  }

  return {
    slack,
    workspace,
    answer,
    /** Answers as `fetch` does. @throws {TypeError} if the connection is cut */
    async fetch({ pathname }: URL, { headers, body }: RequestInit): Promise<Response> {
      const authorization = new Headers(headers).get('authorization') ?? undefined;
      const answered = answer({ url: pathname, authorization, body: String(body ?? '') });
      if (!answered) throw new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } });
      return new Response(answered.body, answered);
    },
  };
}
