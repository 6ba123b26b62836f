import type { IncomingHttpHeaders } from 'node:http';
import type { Workspace } from './records.ts';

/** A request to one of the MCP and OAuth endpoints. */
export interface McpRequest {
  method: string;
  /** The path after the base URL. */
  endpoint: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: Buffer;
  ip: string;
  /** The sandbox's time, which a fault may skew. */
  nowMs: number;
}

/** The person, workspace and scopes of a request to the MCP endpoint. */
export interface Caller {
  user_id: string;
  workspace: Workspace;
  scopes: readonly string[];
  /** The client of the grant. */
  client: string;
}
