import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';

export type HttpHandler = (event: APIGatewayProxyEventV2) => Promise<APIGatewayProxyStructuredResultV2>;

/** GitHub's own cap on a payload; what is larger is not from there. */
const MAX_BYTES = 26 * 1024 * 1024;

/**
 * The function URLs behind one port.
 *
 * @param routes `POST /github` to its function
 */
export async function startHttpFront(port: number, routes: Readonly<Record<string, HttpHandler>>): Promise<Server> {
  const server = createServer(async (request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    const handler = routes[`${request.method} ${path}`];
    if (!handler) {
      response.writeHead(404, { 'content-type': 'text/plain' });
      response.end(`Nothing here. There is ${Object.keys(routes).join(', ')}.\n`);
      return;
    }
    if (Number(request.headers['content-length']) > MAX_BYTES) {
      response.writeHead(413, { connection: 'close' }).end();
      return;
    }
    const answer = await handler(functionUrlEvent(request, path, await buffer(request)));
    response.writeHead(answer.statusCode ?? 200, answer.headers as Record<string, string>);
    response.end(answer.body);
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return server;
}

/**
 * The event that a function URL makes of a request.
 * https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html#urls-payloads
 */
export function functionUrlEvent(
  request: Pick<IncomingMessage, 'method' | 'headers' | 'url'>,
  path: string,
  body: Buffer,
): APIGatewayProxyEventV2 {
  const contentType = request.headers['content-type'] ?? '';
  const isText = /^(text\/|application\/(json|javascript|xml))/.test(contentType);
  const method = request.method ?? 'GET';
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: request.url?.split('?')[1] ?? '',
    headers: flat(request.headers),
    requestContext: {
      accountId: 'anonymous',
      apiId: 'local',
      domainName: 'localhost',
      domainPrefix: 'local',
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: '' },
      requestId: 'local',
      routeKey: '$default',
      stage: '$default',
      time: '',
      timeEpoch: Date.now(),
    },
    body: body.toString(isText ? 'utf8' : 'base64'),
    isBase64Encoded: !isText,
  };
}

function flat(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
