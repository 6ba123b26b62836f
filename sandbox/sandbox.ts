import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, jsonAnswer } from './answer.ts';
import { type Check, checkOrders, verifyOrder } from './checks.ts';
import { controlAnswer, controlRefusal } from './control.ts';
import { type Fault, Faults } from './faults.ts';
import type { SandboxKey } from './keys.ts';
import type { Administration } from './mcp/administration.ts';
import { McpService } from './mcp/mcp.ts';
import type { McpOptions } from './mcp/options.ts';
import { type NonceMoment, Nonces } from './nonces.ts';
import { answerPartner, type Service } from './partner-api.ts';
import { RateLimiter, type WindowModel } from './rate-limit.ts';
import type { Data } from './records.ts';
import { type Rename, routesByPath } from './routes.ts';
import { type AuditEntry, Store } from './store.ts';

export interface SandboxOptions {
  /** Default: 0, which means any free port. */
  port?: number;
  /** A path before /api/v1/partner, such as /pm. */
  basePath?: string;
  /** The key for setting faults over HTTP and for signing access tokens. Default: a new one. */
  controlKey?: string;
  /** Journal on disk. Without it, everything is in memory. A new journal begins with the seed. */
  dataFile?: string;
  /** Epoch milliseconds. */
  clock?: () => number;
  keys?: readonly SandboxKey[];
  /**
   * The defaults of 120 a minute and 5000 a day are documented. The way of counting and the other defaults here are
   * assumed.
   */
  rateLimit?: {
    perMinute?: number;
    perDay?: number;
    /** Default: sliding. */
    window?: WindowModel;
    /** Default: on arrival. */
    counts?: 'on arrival' | 'on answer';
    /** True if refused requests count too, including those with 429. Default: true. */
    countsRefused?: boolean;
    /** True if a 429 has the header Retry-After. Default: false. */
    tellsRetryAfter?: boolean;
  };
  /** Default: the first of `checkOrders`. This, the nonce moment and how the limits count are assumed. */
  checkOrder?: readonly Check[];
  /** Default: after signature. */
  nonceMoment?: NonceMoment;
  /**
   * True if lists that are not documented as paginated also return a pagination object: the projects list and all
   * assumed ones (docs/partner-api.md#pagination). Default: true.
   */
  paginatesAll?: boolean;
  /** Other paths and field names for assumed parts. */
  rename?: Rename;
  /** The MCP endpoint and its OAuth flow, which are off until an administrator enables them. */
  mcp?: McpOptions;
}

export interface Sandbox {
  /** Base URL without /api/v1/partner. */
  readonly url: string;
  /** For the header `authorization: Bearer …` of requests that change something below /sandbox/. */
  readonly controlKey: string;
  /** Live: keys may be added or changed. */
  readonly keys: SandboxKey[];
  /** The live records. */
  readonly data: Data;
  readonly audit: readonly AuditEntry[];
  /** The faults that are set, which can be listed and removed one by one. */
  readonly faults: Faults;
  /** The number of requests received for the partner API. */
  readonly requests: number;
  /** Controls and state of the MCP endpoint; described at the top of mcp/mcp.ts. */
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

/** The service's limit is not shown; assumed to be more than any operation needs. */
const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** The partner API and the MCP endpoint of the project-management service, on 127.0.0.1 only. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { clock = Date.now, basePath = '', rateLimit = {}, checkOrder = checkOrders[0] ?? [] } = options;
  const { controlKey = randomUUID() } = options;
  verifyOrder(checkOrder);
  const routes = routesByPath(options.rename ?? {});
  const store = new Store(options.dataFile);
  const faults = new Faults();
  const keys = (options.keys ?? [defaultKey]).map((key) => ({ ...key }));
  const closing = new AbortController();
  const service: Service = {
    store,
    nonces: new Nonces(store, clock),
    limiter: new RateLimiter(rateLimit.window, rateLimit.perMinute, rateLimit.perDay),
    faults,
    keys,
    routes,
    clock,
    sleep: (ms) => sleep(ms, undefined, { signal: closing.signal }),
    checkOrder,
    nonceMoment: options.nonceMoment ?? 'after signature',
    limiterCounts: rateLimit.counts ?? 'on arrival',
    limiterCountsRefused: rateLimit.countsRefused ?? true,
    tellsRetryAfter: rateLimit.tellsRetryAfter ?? false,
    paginatesAll: options.paginatesAll ?? true,
  };
  let url = '';
  const mcp = new McpService(
    { store, faults, keys, basePath, signingKey: controlKey, baseUrl: () => url, clock, sleep: service.sleep },
    options.mcp ?? {},
  );
  const partnerPath = `${basePath}/api/v1/partner`;
  let requests = 0;

  async function answer(request: IncomingMessage): Promise<Answer | null> {
    const method = request.method ?? '';
    const [path = '', query] = (request.url ?? '').split(/\?(.*)/s);
    const isControl = path.startsWith(`${basePath}/sandbox/`);
    const refusal = isControl ? controlRefusal(method, request.headers, controlKey) : undefined;
    if (refusal) return refusal;
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) return jsonAnswer(413, { success: false, message: 'Payload too large', data: null });
      chunks.push(chunk);
    }
    const body = Buffer.concat(chunks);
    if (path.startsWith(`${partnerPath}/`)) {
      requests += 1;
      const operation = path.slice(partnerPath.length);
      const ip = request.socket.remoteAddress ?? '';
      return answerPartner(service, { method, path, operation, headers: request.headers, body, ip });
    }
    const endpoint = mcp.endpointOf(path);
    if (endpoint !== undefined) {
      const ip = request.socket.remoteAddress ?? '';
      return mcp.answer({ method, endpoint, query: new URLSearchParams(query), headers: request.headers, body, ip });
    }
    if (isControl) {
      return controlAnswer(`${method} ${path.slice(basePath.length)}`, body.toString('utf8'), {
        faults,
        store,
        requests,
        mcp: mcp.administration,
      });
    }
    return jsonAnswer(404, { success: false, message: 'Not found', data: null });
  }

  const server = createServer((request, response) => {
    answer(request)
      .then((answered) => send(response, answered, clock, service.sleep))
      .catch((error: unknown) => {
        // A client that disconnects while sending, or a sandbox that closes in the meantime, is not an error of the
        // sandbox.
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
  url = `http://127.0.0.1:${port}${basePath}`;

  return {
    url,
    controlKey,
    keys,
    data: store.data,
    audit: store.audit,
    faults,
    get requests() {
      return requests;
    },
    mcp: mcp.administration,
    setFault: (fault) => faults.set(fault),
    clearFaults: () => faults.clear(),
    revokeKey(apiKey) {
      const key = keys.find((candidate) => candidate.apiKey === apiKey);
      if (key === undefined) throw new Error(`there is no key ${apiKey}`);
      key.state = 'revoked';
    },
    async close() {
      closing.abort();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      store.close();
    },
  };
}

async function send(
  response: ServerResponse,
  answer: Answer | null,
  clock: () => number,
  sleep: (ms: number) => Promise<unknown>,
): Promise<void> {
  if (answer === null) {
    response.destroy();
    return;
  }
  response.sendDate = false;
  response.writeHead(answer.status, { date: new Date(clock()).toUTCString(), ...answer.headers });
  if (typeof answer.body === 'string') {
    response.end(answer.body);
    return;
  }
  for (const piece of answer.body) {
    // Without waiting for the write, a cut would also lose what was sent before it.
    if ('text' in piece) await new Promise((resolve) => response.write(piece.text, resolve));
    else if ('waitMs' in piece) await sleep(piece.waitMs);
    else {
      response.destroy();
      return;
    }
  }
  response.end();
}
