import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What was asked: `POST /app-manifests/abc/conversions`. */
export interface Asked {
  route: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface HttpStandIn {
  url: string;
  asked: Asked[];
  close(): Promise<void>;
}

/** A server on 127.0.0.1 that answers with JSON, and remembers what it was asked. */
export async function startHttpStandIn(
  answer: (asked: Asked) => { status: number; body: unknown },
): Promise<HttpStandIn> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const one = { route: `${request.method} ${request.url}`, headers: request.headers, body: await text(request) };
    asked.push(one);
    const { status, body } = answer(one);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
