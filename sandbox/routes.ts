import { checklists } from './operations/checklists.ts';
import { defects } from './operations/defects.ts';
import type { Operation } from './operations/operation.ts';
import { projects } from './operations/projects.ts';
import { tasks } from './operations/tasks.ts';
import { tests } from './operations/tests.ts';
import { timelogs } from './operations/timelogs.ts';
import { users } from './operations/users.ts';
import { validate } from './operations/validate.ts';

export const operations: readonly Operation[] = [
  validate,
  ...projects,
  ...tasks,
  ...timelogs,
  ...users,
  ...tests,
  ...defects,
  ...checklists,
];

/** By operation path: another path, and other field names for ours. What is documented cannot be renamed. */
export type Rename = Readonly<Record<string, { path?: string; fields?: Readonly<Record<string, string>> }>>;

export interface Route {
  operation: Operation;
  /** Field names of this sandbox by the name on the wire, and the other way round. */
  ours: ReadonlyMap<string, string>;
  theirs: ReadonlyMap<string, string>;
}

export function routesByPath(rename: Rename): Map<string, Route> {
  for (const [path, { path: renamed }] of Object.entries(rename)) {
    const evidence = operations.find((operation) => operation.path === path)?.evidence;
    if (evidence === undefined) throw new Error(`rename: there is no operation ${path}`);
    if (evidence === 'documented') throw new Error(`rename: ${path} is documented`);
    if (evidence === 'fields assumed' && renamed) throw new Error(`rename: the path ${path} is documented`);
  }
  return new Map(
    operations.map((operation) => {
      const { path = operation.path, fields = {} } = rename[operation.path] ?? {};
      const theirs = new Map(Object.entries(fields));
      const ours = new Map([...theirs].map(([our, their]) => [their, our]));
      return [path, { operation, ours, theirs }];
    }),
  );
}

/** Our name of a renamed field is no name on the wire any more, and is dropped. */
export function toOurs({ ours, theirs }: Route, payload: object): Record<string, unknown> {
  const kept = Object.entries(payload).filter(([name]) => ours.has(name) || !theirs.has(name));
  return Object.fromEntries(kept.map(([name, value]) => [ours.get(name) ?? name, value]));
}

export function toTheirs({ theirs }: Route, record: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [theirs.get(name) ?? name, value]));
}
