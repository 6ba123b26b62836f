import type { WindowModel } from '../rate-limit.ts';
import type { RefreshReuse } from './grants.ts';
import type { Person } from './people.ts';
import type { ToolRename } from './tools/toolbox.ts';
import type { answerModes } from './transport.ts';

/** How the MCP side behaves. A default that docs/partner-api.md does not give is assumed. */
export interface McpOptions {
  /** Enabled by the administrator from the start, in the first workspace: with all scopes, or with these. Default: off. */
  enabled?: boolean | readonly string[];
  people?: readonly Person[];
  /** "Feature-flagged": whether /mcp/partner-legacy answers. Default: false. */
  legacy?: boolean;
  /** The defaults of 120 a minute and 5000 a day, for each calling address, are documented. */
  rateLimit?: { perMinute?: number; perDay?: number; window?: WindowModel; tellsRetryAfter?: boolean };
  /** Default: json. */
  answers?: (typeof answerModes)[number];
  /** Whether `initialize` gives a session id. Default: true. */
  tellsSessionId?: boolean;
  /** Whether a client that offers an unknown revision is offered the newest known one. Default: false, an error. */
  counterOffers?: boolean;
  /** Whether challenges name the discovery document (RFC 9728). Default: true. */
  tellsResourceMetadata?: boolean;
  /** Default: revokes the grant. */
  refreshReuse?: RefreshReuse;
  renameTools?: ToolRename;
  /** Tools on a page of tools/list. Default: 5. */
  toolsPerPage?: number;
  /** Whether tools/list leaves out what the token's scopes do not allow. Default: false. */
  listsPermittedOnly?: boolean;
  /** Whether tools/list tells each tool's scope, in `_meta.scope`. Default: false. */
  tellsToolScopes?: boolean;
}
