import type { IncomingHttpHeaders } from 'node:http';
import type { Workspace } from './records.ts';

/** A request to one of the MCP and OAuth endpoints. */
export interface McpRequest {
  method: string;
  /** Its path behind the base URL. */
  endpoint: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: Buffer;
  ip: string;
  /** By the sandbox's clock, skewed if a fault says so. */
  nowMs: number;
}

/** The person, the workspace and the scopes that a request to the MCP endpoint acts with. */
export interface Caller {
  user_id: string;
  workspace: Workspace;
  scopes: readonly string[];
  /** The client of the grant. */
  client: string;
}
