import type { Happening } from '../faults.ts';
import type { TokenAnswer } from './grants.ts';
import type { McpParts } from './parts.ts';
import { defaultPeople, type Person } from './people.ts';
import { clamp } from './scopes.ts';
import type { ToolCall } from './tool-calls.ts';

/** A request to an MCP or OAuth endpoint. `status` is null if the connection was cut. */
export interface McpAuditEntry {
  time: string;
  ip: string;
  method: string;
  endpoint: string;
  /** The JSON-RPC method and the tool, or the grant_type. */
  calls: readonly string[];
  status: number | null;
  reason: string | null;
}

/** What an administrator of the service can do and see, and what else a test needs. */
export class Administration {
  /** The people who can sign in, with email and password. */
  readonly people: readonly Person[] = defaultPeople;
  /** All tool calls, with their callers and arguments. */
  readonly calls: readonly ToolCall[];
  /** Every request to the MCP and OAuth endpoints. */
  readonly audit: readonly McpAuditEntry[];
  readonly #parts: McpParts;

  constructor(parts: McpParts, audit: readonly McpAuditEntry[]) {
    this.#parts = parts;
    this.calls = parts.toolCalls.all;
    this.audit = audit;
  }

  /** The address of the endpoint, which is the resource and the audience of its tokens. */
  get url(): string {
    return this.#parts.resource();
  }

  /** Enables MCP; by default in the first workspace, with all scopes. */
  enable(workspace_id?: string, scopes?: readonly string[]): void {
    this.#parts.workspaces.enable(workspace_id, scopes);
  }

  disable(workspace_id?: string): void {
    this.#parts.workspaces.disable(workspace_id);
  }

  /** Revokes the grants of one person, or of everyone. */
  revokeGrants(user_id?: string): void {
    this.#parts.grants.endAll('revoked', user_id);
  }

  /** Withdraws the consent of one person, or of everyone, which ends their grants. */
  withdrawConsent(user_id?: string): void {
    this.#parts.grants.endAll('consent withdrawn', user_id);
  }

  /** Removes every registered client; grants stay. */
  purgeClients(): void {
    const { store } = this.#parts;
    for (const { client_id } of [...store.data.oauthClients]) store.remove('oauthClients', client_id);
    store.commit();
  }

  endSessions(): void {
    this.#parts.sessions.endAll();
  }

  /**
   * Issues tokens without a browser to the person with this email, in one of their workspaces (by default the first
   * offered), for some or all of its allowed scopes.
   *
   * @throws {Error} if MCP is not enabled there
   */
  grant(
    email: string,
    { scopes, workspace_id }: { scopes?: readonly string[]; workspace_id?: string } = {},
  ): TokenAnswer & { client_id: string } {
    const { store, workspaces, grants, resource, clock } = this.#parts;
    const person = this.people.find((candidate) => candidate.email === email);
    if (person === undefined) throw new Error(`there is no person ${email}`);
    const offered = workspaces.offeredTo(person.user_id);
    const workspace = offered.find((candidate) => (workspace_id ?? candidate.workspace_id) === candidate.workspace_id);
    if (workspace === undefined) throw new Error(`MCP is not enabled in a workspace of ${email}`);
    const client_id = `granted-to-${person.user_id}`;
    const redirect_uris = ['http://127.0.0.1/'];
    store.put('oauthClients', { client_id, client_name: 'Granted', redirect_uris, client_id_issued_at: 0 });
    const grant = grants.approve({
      client_id,
      user_id: person.user_id,
      workspace_id: workspace.workspace_id,
      scopes: clamp(scopes?.join(' ') ?? null, workspace.mcp_scopes),
      resource: resource(),
    });
    const tokens = grants.issue(grant, clock());
    store.commit();
    return { ...tokens, client_id };
  }

  /** Carries out a permanent change that a fault asks for. */
  happen({ kind }: Happening): void {
    switch (kind) {
      case 'grants-revoked':
        this.revokeGrants();
        break;
      case 'consent-withdrawn':
        this.withdrawConsent();
        break;
      case 'mcp-disabled':
        for (const { workspace_id } of [...this.#parts.workspaces.all]) this.disable(workspace_id);
        break;
      case 'sessions-ended':
        this.endSessions();
        break;
    }
  }
}
