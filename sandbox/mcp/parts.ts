import { RateLimiter } from '../rate-limit.ts';
import type { Store } from '../store.ts';
import { Codes } from './codes.ts';
import { paths } from './discovery.ts';
import { Grants } from './grants.ts';
import { McpSessions } from './mcp-sessions.ts';
import type { McpOptions } from './options.ts';
import { ToolCalls } from './tool-calls.ts';
import { Toolbox } from './tools/toolbox.ts';
import { Workspaces } from './workspaces.ts';

export interface McpSurroundings {
  readonly store: Store;
  /** The path before all endpoints. */
  readonly basePath: string;
  /** The key that signs access tokens. */
  readonly signingKey: string;
  baseUrl(): string;
  clock(): number;
}

/** What the MCP endpoint, the OAuth endpoints and the administration share. */
export type McpParts = ReturnType<typeof createParts>;

export function createParts({ store, basePath, signingKey, baseUrl, clock }: McpSurroundings, options: McpOptions) {
  const toolbox = new Toolbox({
    names: options.renameTools ?? {},
    pageSize: options.toolsPerPage ?? 9,
    tellsScopes: options.tellsToolScopes ?? false,
  });
  return {
    store,
    clock,
    workspaces: new Workspaces(store),
    codes: new Codes(),
    grants: new Grants(store, baseUrl, signingKey, options.refreshReuse ?? 'revokes the grant'),
    sessions: new McpSessions(),
    /** Whether the client gets a session id, which all later requests must contain. */
    tellsSessionId: options.tellsSessionId ?? true,
    limiter: new RateLimiter(options.rateLimit ?? {}),
    toolCalls: new ToolCalls(store, toolbox),
    issuer: baseUrl,
    /** The audience that a token must have. */
    resource: () => `${baseUrl()}${paths.mcp}`,
    /** The path of the endpoint for authorizations, with the base path. */
    authorizePath: `${basePath}${paths.authorize}`,
  };
}
