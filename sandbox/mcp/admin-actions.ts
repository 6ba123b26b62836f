import type { Administration } from './administration.ts';

interface Given {
  user_id?: string;
  workspace_id?: string;
  scopes?: readonly string[];
}

/** What POST /sandbox/mcp does, by the `do` of its body, and the fields that go with it. */
const actions: Readonly<
  Record<string, { takes: readonly (keyof Given)[]; act(mcp: Administration, given: Given): void }>
> = {
  enable: {
    takes: ['workspace_id', 'scopes'],
    act: (mcp, { workspace_id, scopes }) => mcp.enable(workspace_id, scopes),
  },
  disable: { takes: ['workspace_id'], act: (mcp, { workspace_id }) => mcp.disable(workspace_id) },
  'revoke grants': { takes: ['user_id'], act: (mcp, { user_id }) => mcp.revokeGrants(user_id) },
  'withdraw consent': { takes: ['user_id'], act: (mcp, { user_id }) => mcp.withdrawConsent(user_id) },
  'purge clients': { takes: [], act: (mcp) => mcp.purgeClients() },
  'end sessions': { takes: [], act: (mcp) => mcp.endSessions() },
};

/** Throws an error that says what is wrong with the request. */
export function administer(mcp: Administration, { do: name, ...fields }: Record<string, unknown>): void {
  const action = Object.entries(actions).find(([known]) => known === name)?.[1];
  if (action === undefined) throw new Error(`do must be one of ${Object.keys(actions).join(', ')}`);
  const unknown = Object.keys(fields).find((field) => !action.takes.some((taken) => taken === field));
  if (unknown !== undefined) throw new Error(`${unknown} is unknown with do ${name}`);
  action.act(mcp, givenIn(fields));
}

function givenIn({ user_id, workspace_id, scopes }: Record<string, unknown>): Given {
  if (scopes !== undefined && !isTexts(scopes)) throw new Error('scopes must be a list of scopes');
  return { ...text('user_id', user_id), ...text('workspace_id', workspace_id), ...(scopes ? { scopes } : {}) };
}

function text<K extends string>(field: K, value: unknown): { [N in K]?: string } {
  if (value === undefined) return {};
  if (typeof value !== 'string') throw new Error(`${field} must be a string`);
  const given: { [N in K]?: string } = {};
  given[field] = value;
  return given;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}
