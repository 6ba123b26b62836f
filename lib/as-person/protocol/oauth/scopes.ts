/**
 * The rights that the scopes of the MCP endpoint grant (docs/partner-api.md#mcp-scopes). Reserved scopes grant nothing.
 */
export const scopes: Readonly<Record<string, string>> = {
  'mcp:use': 'use the MCP endpoint',
  'mcp:projects.read': 'read projects',
  'mcp:projects.write': 'create and update projects',
  'mcp:tasks.read': 'read tasks',
  'mcp:tasks.write': 'create, update, assign and close tasks',
  'mcp:epics.write': 'create epics, features, stories and subtasks',
  'mcp:sprints.read': 'read sprints',
  'mcp:sprints.write': 'create and change sprints',
  'mcp:timelogs.read': 'read time entries',
  'mcp:timelogs.write': 'create and update time entries',
  'mcp:users.read': 'read the members of the workspace',
  'mcp:tests.read': 'read test cases and defects',
  'mcp:tests.write': 'create and change test cases and defects',
  'mcp:checklists.read': 'read checklists',
  'mcp:checklists.write': 'create, complete and change checklists',
  'mcp:context.read': 'read saved context',
  'mcp:context.write': 'save context',
  'mcp:documents.read': 'search documents',
};

/** Returns true if a text can be a scope of the MCP endpoint. Other texts are not repeated. */
export const isScope = (text: string): boolean => /^mcp:[a-z]+(\.[a-z]+)?$/.test(text);

/** The scopes of the MCP endpoint in a text, without duplicates. */
export const scopesIn = (text: string): string[] => [...new Set(text.match(/\bmcp:[a-z]+(?:\.[a-z]+)?\b/g))];

/**
 * Returns the scopes to request: the scopes of the challenge, and the scopes of docs/partner-api.md#mcp-scopes that the
 * instance lists, for all commands at once. If there are none, everything that the instance lists. A service grants
 * less if its workspace allows less.
 */
export function scopesToAsk({ challenged, listed }: Readonly<Record<'challenged' | 'listed', readonly string[]>>) {
  const known = new Set([...challenged, ...listed.filter((scope) => Object.hasOwn(scopes, scope))]);
  return known.size > 0 ? [...known] : listed;
}
