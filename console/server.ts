import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { HttpError } from '../lib/state/http/function-url.ts';
import { messageOf, parsedJson } from '../lib/text.ts';
import { type Listening, listen } from '../local/listen.ts';
import { readBody } from '../local/request-body.ts';
import { type ApiRequest, createApi } from './api.ts';
import { awsFault } from './aws-faults.ts';
import { loadPages, pagePaths, type StaticFile } from './build.ts';
import { streamChanges } from './changes.ts';
import { docsFile, isDocsPath } from './docs.ts';
import { checkHost, checkSender, HEADERS } from './guard.ts';
import type { ConsoleRelay } from './relay.ts';

const MAX_BODY_BYTES = 256 * 1024;

export interface ConsoleOptions extends ConsoleRelay {
  /** The bearer token that requests of the pages must have. */
  token: string;
  /** Called with errors that the operator did not cause. */
  failed: (error: unknown) => void;
}

/** Answers the console's requests: `GET /` with its pages, and `/api/` with its data. */
export function createConsole(options: ConsoleOptions) {
  const { token, failed } = options;
  const answerApi = createApi(options);
  let pages: Promise<ReadonlyMap<string, StaticFile>> | undefined;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    checkHost(request);
    const url = URL.parse(request.url ?? '/', 'http://127.0.0.1');
    if (!url) throw new HttpError(400, 'the address of the request cannot be read');
    if (!url.pathname.startsWith('/api/')) return answerPage(request, response, url.pathname);
    checkSender(request, token);
    if (url.pathname === '/api/changes') return answerChanges(request, response);
    const answer = await answerApi(await readRequest(request, url));
    send(response, 200, { 'content-type': 'application/json' }, JSON.stringify(answer));
  }

  function answerChanges(request: IncomingMessage, response: ServerResponse): void {
    if (request.method !== 'GET') throw new HttpError(405, 'changes can only be read');
    response.writeHead(200, { ...HEADERS, 'cache-control': 'no-store', 'content-type': 'application/x-ndjson' });
    streamChanges(response, options.changes);
  }

  async function answerPage(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    pages ??= loadPages();
    const page = isDocsPath(path) ? await docsFile(path) : (await pages).get(path);
    if (!page) throw new HttpError(404, `there is no page ${path}; the console starts at /`);
    if (request.method !== 'GET') throw new HttpError(405, 'pages can only be read');
    const headers = { 'content-type': page.contentType, etag: page.etag };
    const isKnown = request.headers['if-none-match'] === page.etag;
    send(response, isKnown ? 304 : 200, { ...headers, 'cache-control': 'no-cache' }, isKnown ? '' : page.body);
  }

  function refuse(request: IncomingMessage, response: ServerResponse, thrown: unknown): void {
    const error = awsFault(thrown) ?? thrown;
    if (!(error instanceof HttpError)) failed(error);
    if (response.headersSent) return void response.destroy();
    const [status, message] = error instanceof HttpError ? [error.status, error.message] : [500, messageOf(error)];
    // The body of a refused request is not read.
    const headers = { 'content-type': 'application/json', ...(!request.complete && { connection: 'close' }) };
    send(response, status, headers, JSON.stringify({ error: message }));
  }

  return {
    /** Whether a path belongs to the console, if it shares its port. */
    takes: (path: string) => path.startsWith('/api/') || pagePaths.includes(path) || isDocsPath(path),
    answer: (request: IncomingMessage, response: ServerResponse) =>
      void answer(request, response).catch((error: unknown) => refuse(request, response, error)),
  };
}

async function readRequest(request: IncomingMessage, { pathname, searchParams }: URL): Promise<ApiRequest> {
  const { method = 'GET' } = request;
  if (method === 'GET') return { method, path: pathname, query: searchParams };
  if (method !== 'POST') throw new HttpError(405, `the console takes GET and POST, not ${method}`);
  if (!/^application\/json(;|$)/.test(request.headers['content-type'] ?? '')) {
    throw new HttpError(415, 'a change must have the content type application/json');
  }
  const body = await readBody(request, MAX_BODY_BYTES);
  if (!body) throw new HttpError(413, `the body is larger than ${MAX_BODY_BYTES} bytes`);
  const json = parsedJson(body.toString());
  if (json === undefined) throw new HttpError(400, 'the body is not JSON');
  return { method, path: pathname, query: searchParams, body: json };
}

function send(response: ServerResponse, status: number, headers: Record<string, string>, body: string | Buffer): void {
  response.writeHead(status, { ...HEADERS, 'cache-control': 'no-store', ...headers }).end(body);
}

/** Serves a console on its own port. @throws {Error} if the port is taken */
export function startConsole(port: number, options: ConsoleOptions): Promise<Listening> {
  return listen(createServer(createConsole(options).answer), port);
}
