import type { Project } from '../records.ts';
import { firstWorkspaceId } from '../seed.ts';
import { find, type Store } from '../store.ts';
import type { Member, Workspace } from './records.ts';
import { grantable } from './scopes.ts';

/** The company's workspaces, the scopes that the administrator allows in each, and what each member sees. */
export class Workspaces {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  get all(): readonly Workspace[] {
    return this.#store.data.workspaces;
  }

  find(workspace_id: string): Workspace | undefined {
    return find(this.all, 'workspace_id', workspace_id);
  }

  /** "A workspace picker listing workspaces that have MCP enabled": those of which the person is a member. */
  offeredTo(user_id: string): Workspace[] {
    return this.all.filter((workspace) => workspace.mcp_enabled && memberOf(workspace, user_id) !== undefined);
  }

  /** Enables MCP, and sets the scopes that may be granted; by default all. */
  enable(workspace_id = firstWorkspaceId, scopes: readonly string[] = [...grantable.keys()]): void {
    const unknown = scopes.find((scope) => !grantable.has(scope));
    if (unknown !== undefined) throw new Error(`there is no scope ${unknown} to allow`);
    this.#change(workspace_id, { mcp_enabled: true, mcp_scopes: [...scopes] });
  }

  disable(workspace_id = firstWorkspaceId): void {
    this.#change(workspace_id, { mcp_enabled: false });
  }

  #change(workspace_id: string, changes: Partial<Workspace>): void {
    const workspace = this.find(workspace_id);
    if (workspace === undefined) throw new Error(`there is no workspace ${workspace_id}`);
    this.#store.put('workspaces', { ...workspace, ...changes });
    this.#store.commit();
  }
}

export function memberOf({ members }: Workspace, user_id: string): Member | undefined {
  return find(members, 'user_id', user_id);
}

/** "Projects the user cannot see stay invisible." */
export function sees(workspace: Workspace, user_id: string, project: Project): boolean {
  const member = memberOf(workspace, user_id);
  if (member === undefined || workspace.workspace_id !== firstWorkspaceId) return false;
  return member.projects === null || project.created_by === user_id || member.projects.includes(project.project_id);
}
