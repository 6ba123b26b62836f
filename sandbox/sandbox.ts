import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, jsonAnswer } from './answer.ts';
import { type Check, checkOrders, type SandboxKey } from './checks.ts';
import { controlAnswer, controlRefusal } from './control.ts';
import { type Fault, Faults } from './faults.ts';
import type { Administration } from './mcp/administration.ts';
import { McpService } from './mcp/mcp.ts';
import type { McpOptions } from './mcp/options.ts';
import { type NonceMoment, Nonces } from './nonces.ts';
import { answerPartner, type Service } from './partner-api.ts';
import { RateLimiter } from './rate-limit.ts';
import type { Data } from './records.ts';
import { type Rename, routesByPath } from './routes.ts';
import { type AuditEntry, Store } from './store.ts';

export interface SandboxOptions {
  /** Default: 0, which means any free port. */
  port?: number;
  /** A path before /api/v1/partner, such as /pm. */
  basePath?: string;
  /** The key for setting faults over HTTP, and for signing access tokens. Default: a new key. */
  controlKey?: string;
  /** A journal on disk. Without it, everything is in memory. A new journal begins with the seed. */
  dataFile?: string;
  /** Epoch milliseconds. */
  clock?: () => number;
  keys?: readonly SandboxKey[];
  /** The defaults of 120 a minute and 5000 a day are documented. */
  rateLimit?: {
    perMinute?: number;
    perDay?: number;
    /** Whether a 429 has the header Retry-After. Default: false, which is assumed. */
    tellsRetryAfter?: boolean;
  };
  /** Default: the first of `checkOrders`. This and the nonce moment are assumed. */
  checkOrder?: readonly Check[];
  /** Default: after signature. */
  nonceMoment?: NonceMoment;
  /**
   * Whether lists that are not documented as paginated also return a pagination object: the list of projects, and all
   * assumed lists (docs/partner-api.md#pagination). Default: true.
   */
  paginatesAll?: boolean;
  /** Other paths and field names for assumed parts. */
  rename?: Rename;
  /** The MCP endpoint and its OAuth flow. They are off until an administrator enables them. */
  mcp?: McpOptions;
}

export interface Sandbox {
  /** The base URL without /api/v1/partner. */
  readonly url: string;
  /** For the header `authorization: Bearer …` of changes below /sandbox/. */
  readonly controlKey: string;
  /** Live: keys may be added or changed. */
  readonly keys: SandboxKey[];
  /** The live records. */
  readonly data: Data;
  readonly audit: readonly AuditEntry[];
  /** The active faults, which can be listed and removed one by one. */
  readonly faults: Faults;
  /** The number of requests to the partner API. */
  readonly requests: number;
  /** Controls and state of the MCP endpoint: mcp/mcp.ts describes them. */
  readonly mcp: Administration;
  setFault(fault: Fault): void;
  clearFaults(): void;
  revokeKey(apiKey: string): void;
  close(): Promise<void>;
}

export const defaultKey: Readonly<SandboxKey> = {
  apiKey: 'pk_sandbox_0123456789abcdef',
  secretKey: 'sk_sandbox_for_local_use_only',
  scopes: ['*'],
};

/** The service's limit is not shown. Assumed: more than any operation needs. */
const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** The sandbox without a server. @param baseUrl for its addresses */
export function createSandbox(options: SandboxOptions, baseUrl: () => string) {
  const { clock = Date.now, basePath = '', rateLimit = {}, checkOrder = checkOrders[0] ?? [] } = options;
  const { controlKey = randomUUID() } = options;
  const routes = routesByPath(options.rename ?? {});
  const store = new Store(options.dataFile);
  const faults = new Faults();
  const keys = (options.keys ?? [defaultKey]).map((key) => ({ ...key }));
  const closing = new AbortController();
  const service: Service = {
    store,
    nonces: new Nonces(store, clock),
    limiter: new RateLimiter(rateLimit),
    faults,
    keys,
    routes,
    clock,
    sleep: (ms) => sleep(ms, undefined, { signal: closing.signal }),
    checkOrder,
    nonceMoment: options.nonceMoment ?? 'after signature',
    tellsRetryAfter: rateLimit.tellsRetryAfter ?? false,
    paginatesAll: options.paginatesAll ?? true,
  };
  const mcp = new McpService(
    { store, faults, basePath, signingKey: controlKey, baseUrl, clock, sleep: service.sleep },
    options.mcp ?? {},
  );
  const sides: Sides = { service, mcp, basePath, controlKey, requests: 0 };
  return {
    sides,
    sandbox: {
      controlKey,
      keys,
      data: store.data,
      audit: store.audit,
      faults,
      get requests() {
        return sides.requests;
      },
      mcp: mcp.administration,
      setFault: (fault: Fault) => faults.set(fault),
      clearFaults: () => faults.clear(),
      revokeKey(apiKey: string) {
        for (const key of keys) if (key.apiKey === apiKey) key.isRevoked = true;
      },
    },
    /**
     * Answers a request of the partner API as `fetch` does, without a socket.
     * @throws {TypeError} if the connection is cut
     */
    async fetch({ pathname }: URL, { method = 'POST', headers, body }: RequestInit): Promise<Response> {
      const request = {
        method,
        path: pathname,
        operation: pathname.slice(partnerPathOf(basePath).length),
        headers: Object.fromEntries(new Headers(headers)),
        body: Buffer.from(String(body)),
        ip: '127.0.0.1',
      };
      const answer = await answerPartner(service, request);
      if (!answer) throw new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } });
      return new Response(answer.body, answer);
    },
    closing,
  };
}

/** The partner API and the MCP endpoint of the project-management service, on 127.0.0.1 only. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  let url = '';
  const { sandbox, sides, closing } = createSandbox(options, () => url);
  const { store, clock } = sides.service;
  const server = createServer((request, response) => {
    answer(sides, request)
      .then((answered) => send(response, answered, clock))
      .catch((error: unknown) => {
        // Not an error of the sandbox: a client disconnected while it was sending, or the sandbox is closing.
        const unfinished = !request.complete || closing.signal.aborted;
        response.destroy();
        if (!unfinished) throw error;
      });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      store.close();
      reject(error);
    });
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  url = `http://127.0.0.1:${port}${sides.basePath}`;
  return Object.assign(sandbox, {
    url,
    async close() {
      closing.abort();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      store.close();
    },
  });
}

const partnerPathOf = (basePath: string) => `${basePath}/api/v1/partner`;

/** What answers the requests. */
interface Sides {
  service: Service;
  mcp: McpService;
  basePath: string;
  controlKey: string;
  /** The number of requests to the partner API. */
  requests: number;
}

async function answer(sides: Sides, request: IncomingMessage): Promise<Answer | null> {
  const { service, mcp, basePath, controlKey } = sides;
  const { method = '', headers } = request;
  const [path = '', query] = (request.url ?? '').split(/\?(.*)/s);
  const isControl = path.startsWith(`${basePath}/sandbox/`);
  const refusal = isControl ? controlRefusal(method, headers, controlKey) : undefined;
  if (refusal) return refusal;
  const body = await readBody(request);
  const ip = request.socket.remoteAddress ?? '';
  const partnerPath = partnerPathOf(basePath);
  const operation = path.startsWith(`${partnerPath}/`) ? path.slice(partnerPath.length) : undefined;
  if (operation !== undefined) sides.requests += 1;
  if (!body) {
    const reason = 'Payload too large';
    if (operation !== undefined) {
      const time = new Date(service.clock()).toISOString();
      service.store.addToAudit({ time, ip, endpoint: operation, status: 413, reason });
      service.store.commit();
    }
    const endpoint = mcp.endpointOf(path);
    if (endpoint !== undefined) return mcp.tooLarge(endpoint, reason);
    return jsonAnswer(413, { success: false, message: reason, data: null });
  }
  if (operation !== undefined) return answerPartner(service, { method, path, operation, headers, body, ip });
  const endpoint = mcp.endpointOf(path);
  if (endpoint !== undefined) {
    return mcp.answer({ method, endpoint, query: new URLSearchParams(query), headers, body, ip });
  }
  if (isControl) return controlAnswer(`${method} ${path.slice(basePath.length)}`, body.toString('utf8'), service);
  return jsonAnswer(404, { success: false, message: 'Not found', data: null });
}

/** Reads a body; undefined if it is too large. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function send(response: ServerResponse, answer: Answer | null, clock: () => number): void {
  if (answer === null) {
    response.destroy();
    return;
  }
  response.sendDate = false;
  response.writeHead(answer.status, { date: new Date(clock()).toUTCString(), ...answer.headers }).end(answer.body);
}
