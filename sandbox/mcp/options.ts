import type { RefreshReuse } from './grants.ts';
import type { ToolNames } from './tools/toolbox.ts';

/** How the MCP side behaves. A default that docs/partner-api.md does not give is assumed. */
export interface McpOptions {
  /** Enabled by the administrator from the start, in the first workspace, with all scopes. Default: off. */
  enabled?: boolean;
  /** The defaults of 120 a minute and 5000 a day, for each calling address, are documented. */
  rateLimit?: { perMinute?: number; perDay?: number };
  /** Whether `initialize` gives a session id. Default: true. */
  tellsSessionId?: boolean;
  /** Default: revokes the grant. */
  refreshReuse?: RefreshReuse;
  /** Other names for tools. */
  renameTools?: ToolNames;
  /** Tools on a page of tools/list. Default: 3. */
  toolsPerPage?: number;
  /** Whether tools/list tells each tool's scope, in `_meta.scope`. Default: false. */
  tellsToolScopes?: boolean;
}
