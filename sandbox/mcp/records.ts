/** Records of the MCP endpoint, beside the service's other records. All fields are assumed. */

export interface Workspace {
  workspace_id: string;
  name: string;
  /** "An administrator has enabled MCP for the company and chosen which scopes may ever be granted." */
  mcp_enabled: boolean;
  mcp_scopes: string[];
  members: Member[];
}

export interface Member {
  user_id: string;
  /** The projects that the member sees, besides those that the member created; null for all of the workspace. */
  projects: string[] | null;
}

/** A registered client (RFC 7591). */
export interface OAuthClient {
  client_id: string;
  client_name: string;
  redirect_uris: string[];
  /** Seconds since 1970. */
  client_id_issued_at: number;
}

/** A person's approval: one client, one workspace, some scopes. */
export interface Grant {
  grant_id: string;
  client_id: string;
  user_id: string;
  workspace_id: string;
  scopes: string[];
  /** The audience of the grant's tokens, as the client named it. */
  resource: string;
  state: 'active' | 'revoked' | 'consent withdrawn';
}

export interface RefreshToken {
  /** SHA-256 of the token. */
  hash: string;
  grant_id: string;
  /** Epoch milliseconds. */
  issued_at: number;
  /** True if a later token has replaced this one. */
  used: boolean;
}
