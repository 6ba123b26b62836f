import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { createMcpClient } from '../../lib/as-person/protocol/client.ts';
import { McpRefusal } from '../../lib/as-person/protocol/errors.ts';
import { beginAuthorization, finishAuthorization } from '../../lib/as-person/protocol/oauth/authorization.ts';
import { discover } from '../../lib/as-person/protocol/oauth/discovery.ts';
import { registerClient } from '../../lib/as-person/protocol/oauth/registration.ts';
import { scopesToAsk } from '../../lib/as-person/protocol/oauth/scopes.ts';
import { missingScopes } from '../../lib/as-person/protocol/tool-outcome.ts';

/**
 * The program that the conformance suite runs: it lists the endpoint's tools, and calls each. If a call is refused, it
 * authorizes as the relay does. The suite's authorization server needs no browser.
 *
 * node test/as-person/conformance-client.ts http://localhost:1234/mcp
 */
const [endpoint = ''] = process.argv.slice(2);
const http = { endpoint, fetch };
const redirectUri = 'http://127.0.0.1:8790/callback';
/** A second link for the same scopes brings nothing new. */
const MOST_AUTHORIZATIONS = 2;

const client = createMcpClient({ endpoint, permit: (send) => send(), fetch, clock: Date.now, sleep: setTimeout });
let token: string | undefined;
let granted: readonly string[] = [];
let authorizations = 0;

async function authorized<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof McpRefusal) || (error.status !== 401 && error.status !== 403)) throw error;
      if (++authorizations > MOST_AUTHORIZATIONS) throw error;
      await authorize(error);
    }
  }
}

async function authorize(refusal: McpRefusal): Promise<void> {
  const discovered = await discover(refusal.challenge, http);
  const isMissing = refusal.status === 403;
  const scopes = isMissing ? [...new Set([...granted, ...missingScopes(refusal)])] : scopesToAsk(discovered);
  const clientId = await registerClient(discovered.server, redirectUri, http);
  const { url, authorization } = await beginAuthorization(discovered, { clientId, redirectUri, scopes });
  const response = await fetch(url, { redirect: 'manual' });
  const callback = new URL(response.headers.get('location') ?? '').searchParams;
  const tokens = await finishAuthorization(discovered, authorization, callback, http);
  token = tokens.accessToken;
  granted = tokens.scopes ?? scopes;
}

/** A value for each required argument, by its type. */
function sample(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, { type?: string }>);
  const byType: Record<string, unknown> = { number: 2, integer: 2, boolean: true, array: [], object: {} };
  return Object.fromEntries(
    properties.map(([name, { type = 'string' }]) => [name, byType[type] ?? randomBytes(4).toString('hex')]),
  );
}

const { tools } = await authorized(() => client.listTools(token));
for (const { name, inputSchema } of tools) await authorized(() => client.callTool(token, name, sample(inputSchema)));
