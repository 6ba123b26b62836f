import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Listening, listen } from '../local/listen.ts';
import { closeLater } from './opened.ts';

/** A request: `POST /app-manifests/abc/conversions`. */
export interface Asked {
  route: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface HttpStandIn extends Listening {
  asked: Asked[];
}

export interface StandInAnswer {
  status: number;
  /** A text, or a value that is sent as JSON. */
  body: unknown;
  headers?: Record<string, string>;
}

/**
 * A server on 127.0.0.1 that answers in JSON and remembers its requests. Undefined cuts the connection. The server
 * closes with the test.
 */
export async function startHttpStandIn(
  answer: (asked: Asked) => StandInAnswer | undefined | Promise<StandInAnswer | undefined>,
): Promise<HttpStandIn> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const one = { route: `${request.method} ${request.url}`, headers: request.headers, body: await text(request) };
    asked.push(one);
    const answered = await answer(one);
    if (!answered) return void response.destroy();
    const { status, body, headers = {} } = answered;
    const sent = typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(sent);
  });
  const listening = await listen(server);
  closeLater(listening.close);
  return { asked, ...listening };
}
