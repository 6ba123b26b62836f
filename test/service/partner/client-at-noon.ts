import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import {
  createPartnerClient,
  type PartnerClient,
  type PartnerClientOptions,
} from '../../../lib/service/partner/client.ts';
import { PartnerError } from '../../../lib/service/partner/errors.ts';
import { defaultKey, type Sandbox, type SandboxOptions, startSandbox } from '../../../sandbox/sandbox.ts';

export const noon = Date.UTC(2026, 1, 3, 12);

/** A client with the sandbox's key, whose clock stands at noon. */
export function clientAtNoon(baseUrl: string, options: Partial<PartnerClientOptions> = {}): PartnerClient {
  const { apiKey, secretKey } = defaultKey;
  return createPartnerClient({ baseUrl, apiKey, secretKey, clock: () => noon, ...options });
}

export interface SandboxAndClient {
  sandbox: Sandbox;
  client: PartnerClient;
  /** Both clocks stand still until the test sets them. Epoch milliseconds. */
  clocks: { client: number; sandbox: number };
}

/** A sandbox that ends with the test, and a client for it. */
export async function sandboxAndClient(options: SandboxOptions = {}): Promise<SandboxAndClient> {
  const clocks = { client: noon, sandbox: noon };
  const sandbox = await startSandbox({ clock: () => clocks.sandbox, ...options });
  onTestFinished(() => sandbox.close());
  return { sandbox, client: clientAtNoon(sandbox.url, { clock: () => clocks.client }), clocks };
}

/** A request as it arrived. */
export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export type Answering = (request: Received, response: ServerResponse) => void;

export interface ServerAndClient {
  url: string;
  client: PartnerClient;
  received: readonly Received[];
  connections(): number;
}

/** A server of the test, for behavior that the sandbox does not have, and a client for it. */
export async function serverAndClient(
  answer: Answering,
  options: Partial<PartnerClientOptions> = {},
): Promise<ServerAndClient> {
  const received: Received[] = [];
  let connections = 0;
  const server = createServer(async (request, response) => {
    const { url: path = '', headers } = request;
    const one = { path, headers, body: await text(request) };
    received.push(one);
    answer(one, response);
  });
  server.on('connection', () => connections++);
  const url = `http://127.0.0.1:${await portOf(server)}`;
  return { url, client: clientAtNoon(url, options), received, connections: () => connections };
}

/** Listens until the end of the test. */
export async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  });
  return (server.address() as AddressInfo).port;
}

/** Answers every request in the same way. A body that is not a text is sent as JSON. */
export function reply(status: number, body: unknown, headers: Record<string, string> = {}): Answering {
  return (_, response) => {
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

/** The error of a call that must fail. */
export async function failureOf(call: Promise<unknown>): Promise<PartnerError> {
  const error = await call.then(
    () => new Error('the call succeeded'),
    (thrown: unknown) => thrown,
  );
  if (error instanceof PartnerError) return error;
  throw error;
}
