import { checklists } from './operations/checklists.ts';
import { defects } from './operations/defects.ts';
import type { Operation } from './operations/operation.ts';
import { projects } from './operations/projects.ts';
import { tasks } from './operations/tasks.ts';
import { tests } from './operations/tests.ts';
import { timelogs } from './operations/timelogs.ts';
import { users } from './operations/users.ts';
import { validate } from './operations/validate.ts';
import { refuse } from './refusal.ts';

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

/** Other paths and field names, by operation path. Documented names cannot change. */
export type Rename = Readonly<Record<string, { path?: string; fields?: Readonly<Record<string, string>> }>>;

export interface Route {
  operation: Operation;
  /** Maps names on the wire to the sandbox's field names, and back. */
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

/**
 * Resources of docs/partner-api.md#operations with operations that are not shown. The operations' names are assumed.
 */
const RESOURCES =
  /^\/(timelogs|users|test-(cases|scenarios|steps)|checklist-(configuration|groups|templates)|checklists|work-items|defects)(\/[\w-]+)+$/;

/**
 * An operation that is not shown: it accepts any payload, and succeeds. Any other path is refused as unknown, after the
 * checks of the key and the signature (assumed).
 */
export function undeclared(path: string): Route {
  const isShown = operations.some((operation) => operation.path === path);
  const operation: Operation = {
    path,
    evidence: 'assumed',
    scope: null,
    success: 200,
    invalid: 422,
    validate: (payload) => (isShown || !RESOURCES.test(path) ? refuse(404, 'Unknown operation') : payload),
    run: () => ({ data: {} }),
  };
  return { operation, ours: new Map(), theirs: new Map() };
}

/** A renamed field no longer has its original name on the wire, so the original name is dropped. */
export function toOurs({ ours, theirs }: Route, payload: object): Record<string, unknown> {
  const kept = Object.entries(payload).filter(([name]) => ours.has(name) || !theirs.has(name));
  return Object.fromEntries(kept.map(([name, value]) => [ours.get(name) ?? name, value]));
}

export function toTheirs({ theirs }: Route, record: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [theirs.get(name) ?? name, value]));
}
