import type { IncomingHttpHeaders } from 'node:http';

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
