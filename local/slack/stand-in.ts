import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from '../listen.ts';
import { refusalOf } from '../own-key.ts';
import { readBody } from '../request-body.ts';
import { type Answer, json } from './answer.ts';
import { answerControl } from './control.ts';
import { createResponseUrls, type RespondsTo, refusedResponse } from './response-urls.ts';
import { channels, people, userGroups } from './seed.ts';
import type { Clock } from './stamps.ts';
import { answerApiCall } from './web-api.ts';
import { createWorkspace, type Workspace } from './workspace.ts';

/** Larger than the longest message and the largest view. */
const MAX_BODY_BYTES = 1024 * 1024;

export interface SlackStandInOptions {
  clock: Clock;
  /** The only valid token. */
  botToken: string;
  /** The key that the command line must send. */
  controlKey?: string;
  /** Default: 0, which means any free port. */
  port?: number;
  /**
   * Stands between a call and its answer. Posts to response URLs have the method `response_url`. `refuse` makes the answer
   * for an error, and undefined cuts the connection.
   */
  between?: (method: string, work: () => Answer, refuse: (error: string) => Answer) => Answer | undefined;
}

/** Its workspace is live and may be changed. Removing a view closes it. */
export interface SlackStandIn
  extends Pick<Workspace, 'users' | 'channels' | 'installation' | 'userGroups' | 'messages' | 'views'> {
  /**
   * `http://127.0.0.1:8788`. It serves `/api/`, `/response/`, and for the command line `/messages` and `/response-url`.
   */
  url: string;
  /** The app's scopes. Calls that need another scope are refused with `missing_scope`. Default: all. */
  grant(scopes: Iterable<string>): void;
  /** Valid for five messages within 30 minutes. */
  makeResponseUrl(about: RespondsTo): string;
  /** Valid for one modal within three seconds. */
  makeTriggerId(userId: string): string;
  close(): Promise<void>;
}

/**
 * The part of Slack that the relay uses, built from Slack's documentation. It runs on 127.0.0.1 only,
 * without rate limits, threads or other apps. If the documentation leaves a choice, the stricter one is taken.
 */
export async function startSlackStandIn(options: SlackStandInOptions): Promise<SlackStandIn> {
  const { clock, botToken, port = 0, controlKey = randomUUID(), between = (_method, work) => work() } = options;
  const workspace = createWorkspace(clock, people, channels, userGroups);
  const responseUrls = createResponseUrls(workspace);

  const server = createServer((request, response) => {
    answer(request)
      .then((answered) => send(response, answered))
      .catch((error: unknown) => {
        response.destroy();
        // A client that disconnects while sending is not an error of the stand-in.
        if (request.complete) throw error;
      });
  });
  const { url, close } = await listen(server, port);
  const makeResponseUrl = (about: RespondsTo) => `${url}/response/${responseUrls.make(about)}`;

  return {
    ...workspace,
    url,
    grant(scopes) {
      workspace.scopes = new Set(scopes);
    },
    makeResponseUrl,
    makeTriggerId: workspace.triggers.make,
    close,
  };

  async function answer(request: IncomingMessage): Promise<Answer | undefined> {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const bytes = await readBody(request, MAX_BODY_BYTES);
    if (!bytes) return json(413, { ok: false, error: 'request_too_large' });
    const body = bytes.toString();
    if (path.startsWith('/api/')) {
      const method = path.slice('/api/'.length);
      const refuse = (error: string) => json(200, { ok: false, error });
      const { authorization } = request.headers;
      return between(method, () => answerApiCall(workspace, botToken, method, authorization, body), refuse);
    }
    if (path.startsWith('/response/')) {
      const id = path.slice('/response/'.length);
      return between('response_url', () => responseUrls.respond(id, body), refusedResponse);
    }
    const refusal = refusalOf(request.headers, controlKey);
    if (refusal !== undefined) return json(403, { error: refusal });
    return answerControl(`${request.method} ${path}`, body, workspace, makeResponseUrl);
  }
}

function send(response: ServerResponse, answer: Answer | undefined): void {
  if (!answer) {
    response.destroy();
    return;
  }
  response.writeHead(answer.status, answer.headers).end(answer.body);
}
