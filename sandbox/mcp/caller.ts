import type { Workspace } from './records.ts';

/** The person, the workspace and the scopes that a request to the MCP endpoint acts with. */
export interface Caller {
  user_id: string;
  /** null on the legacy path, where the API key names no workspace: all of them. */
  workspace: Workspace | null;
  /** null on the legacy path, which "has no scope vocabulary". */
  scopes: readonly string[] | null;
  /** The client of the grant, or the API key. */
  client: string;
}
