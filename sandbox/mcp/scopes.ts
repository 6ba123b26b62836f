/** What each scope allows, for the consent screen (docs/partner-api.md#mcp-scopes). */
export const grantable: ReadonlyMap<string, string> = new Map([
  ['mcp:use', 'Use the assistant endpoint'],
  ['mcp:projects.read', 'Read projects and project metadata'],
  ['mcp:projects.write', 'Create and update projects'],
  ['mcp:tasks.read', 'Read tasks, task lists, statuses and types'],
  ['mcp:tasks.write', 'Create, update, assign and close tasks'],
  ['mcp:epics.write', 'Create epics, features, stories and subtasks'],
  ['mcp:sprints.read', 'Read sprints and sprint plans'],
  ['mcp:sprints.write', 'Create, update, start and complete sprints, and assign tasks to them'],
  ['mcp:timelogs.read', 'Read time entries and timesheets'],
  ['mcp:timelogs.write', 'Create and update time entries'],
  ['mcp:users.read', 'Read workspace members and profiles'],
  ['mcp:tests.read', 'Read test cases, scenarios, steps and defects'],
  ['mcp:tests.write', 'Create, update, link and archive test cases, scenarios, steps and defects'],
  ['mcp:checklists.read', 'Read checklists, groups and templates'],
  ['mcp:checklists.write', 'Create, update, complete and delete checklist items, groups and templates'],
  ['mcp:context.read', 'Read saved project or company context'],
  ['mcp:context.write', 'Save project or company context'],
  ['mcp:documents.read', 'Search uploaded documents'],
]);

/**
 * "Reserved scopes (mcp:users.write, mcp:teams.*, mcp:wiki.*, mcp:tickets.*, mcp:reports.read and others)". The names
 * that the asterisks stand for are assumed.
 */
const reserved = [
  'mcp:users.write',
  ...['teams', 'wiki', 'tickets'].flatMap((area) => [`mcp:${area}.read`, `mcp:${area}.write`]),
  'mcp:reports.read',
];

/** Grantable and reserved scopes. Reserved scopes "appear in scopes_supported, grant nothing". */
export const supported: readonly string[] = [...grantable.keys(), ...reserved];

/**
 * The scopes for a request: those it asks for, "clamped to the allowed set, not refused". Assumed: unknown scopes are
 * left out, too, and a request without scopes asks for all allowed ones.
 */
export function clamp(asked: string | null, allowed: readonly string[]): string[] {
  const names = asked?.split(' ').filter((name) => name !== '') ?? [];
  return allowed.filter((scope) => grantable.has(scope) && (names.length === 0 || names.includes(scope)));
}
