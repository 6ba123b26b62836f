import type { RefreshReuse } from './grants.ts';
import type { ToolNames } from './tools/toolbox.ts';

/** Options of the MCP endpoint. Defaults that are not in docs/partner-api.md are assumed. */
export interface McpOptions {
  /** Whether MCP is enabled from the start, in the first workspace, with all scopes. Default: off. */
  enabled?: boolean;
  /** The defaults of 120 a minute and 5000 a day, for each calling address, are documented. */
  rateLimit?: { perMinute?: number; perDay?: number };
  /** Whether `initialize` returns a session id. Default: true. */
  tellsSessionId?: boolean;
  /** Default: revokes the grant. */
  refreshReuse?: RefreshReuse;
  /** Other names for tools. */
  renameTools?: ToolNames;
  /** The number of tools on a page of tools/list. Default: 3. */
  toolsPerPage?: number;
  /** Whether tools/list includes each tool's scope, in `_meta.scope`. Default: false. */
  tellsToolScopes?: boolean;
}
