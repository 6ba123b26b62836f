import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { jsonAnswer, MAX_BODY_BYTES } from '../lib/state/http/function-url.ts';
import { type Listening, listen } from './listen.ts';
import { readBody } from './request-body.ts';

export type HttpHandler = (event: APIGatewayProxyEventV2) => Promise<APIGatewayProxyStructuredResultV2>;

const { headers, ...refusal } = jsonAnswer(413, { error: `the body is larger than ${MAX_BODY_BYTES} bytes` });
/** Answers as a function URL does, and does not read the rest of the request. */
const tooLarge = { ...refusal, headers: { ...headers, connection: 'close' } };

/**
 * Serves the function URLs on one port.
 *
 * @param routes maps `POST /github`, or `POST /hooks/*`, to its function
 * @param failed gets the errors that functions throw
 * @param others answers requests for its own paths, which no route has
 * @param halted why the relay accepts nothing; every request then gets a 503
 */
export async function startHttpFront(
  port: number,
  routes: Readonly<Record<string, HttpHandler>>,
  failed: (error: unknown) => void = () => {},
  others?: { takes(path: string): boolean; answer: RequestListener },
  halted: () => string | undefined = () => undefined,
): Promise<Listening> {
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const why = halted();
    if (why !== undefined) return refuse(response, why);
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    const route = `${request.method} ${path}`;
    const handler = routes[route] ?? routes[route.replace(/[^/]+$/, '*')];
    if (!handler && others?.takes(path)) return void others.answer(request, response);
    if (!handler) {
      response.writeHead(404, { 'content-type': 'text/plain' });
      response.end(`Not found. Available: ${Object.keys(routes).join(', ')}.\n`);
      return;
    }
    const body = await readBody(request, MAX_BODY_BYTES);
    const answer = body ? await handler(functionUrlEvent(request, path, body)) : tooLarge;
    const { statusCode = 200, headers, cookies } = answer;
    // The reason that halts the relay may have appeared in this request.
    const whyNow = statusCode >= 500 ? halted() : undefined;
    if (whyNow !== undefined) return refuse(response, whyNow);
    response.writeHead(statusCode, {
      ...(headers as Record<string, string>),
      ...(cookies && { 'set-cookie': cookies }),
    });
    response.end(answer.body);
  }

  function refuse(response: ServerResponse, why: string): void {
    response.writeHead(503, { 'content-type': 'text/plain', connection: 'close' }).end(`${why}.\n`);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      // A sender that has disconnected needs no answer.
      if (request.complete) failed(error);
      response.destroy();
    });
  });
  return listen(server, port, 'PORT');
}

/**
 * Converts a request to the event of a function URL, with the fields that the functions read.
 * https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html#urls-payloads
 */
export function functionUrlEvent(
  request: Pick<IncomingMessage, 'method' | 'headers' | 'url'>,
  path: string,
  body: Buffer,
): APIGatewayProxyEventV2 {
  const contentType = request.headers['content-type'] ?? '';
  const isText = /^(text\/|application\/(json|javascript|xml))/.test(contentType);
  const { cookie, ...headers } = request.headers;
  return {
    rawPath: path,
    rawQueryString: request.url?.split('?')[1] ?? '',
    headers: flat(headers),
    ...(cookie !== undefined && { cookies: cookie.split('; ') }),
    requestContext: { http: { method: request.method ?? 'GET', path } },
    body: body.toString(isText ? 'utf8' : 'base64'),
    isBase64Encoded: !isText,
  } as APIGatewayProxyEventV2;
}

function flat(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
