import { connectionCheck } from '../../cli/doctor/connection.ts';
import { inOrder } from '../../cli/doctor/finding.ts';
import { defineConfig, type RelayConfigInput } from '../../lib/config/schema.ts';
import { withTheirClock } from '../../lib/service/connection/operator-calls.ts';
import type { SandboxOptions } from '../../sandbox/sandbox.ts';
import { type KeptAnswers, type Mutation, type Row, startMutated } from '../mutated-service.ts';
import { PROJECT } from '../relay.ts';
import { clientAtNoon, sandboxAndClient } from '../service/partner/client-at-noon.ts';

type Overrides = NonNullable<RelayConfigInput['connections'][string]['operations']>;
/** Findings by what was checked: `good: the second page follows the first`. */
export type Found = ReadonlyMap<string, string>;

const MARKER = '[partner-relay 0123456789abcdef0123]';

const answersOfSandbox: KeptAnswers = new Map();

/** Doctor's findings about the connection to a changed service. */
export async function examined(
  mutation: Mutation = {},
  overrides: Overrides = {},
  options?: SandboxOptions,
): Promise<Found> {
  const { sandbox } = await sandboxAndClient(options);
  const { defects, timelogs } = sandbox.data;
  const [defect] = defects as [(typeof defects)[number]];
  const long = (text: string) => `${text} ${'and again '.repeat(30)}\n\n---\n${MARKER}`;
  defect.description = long(defect.description);
  const defect_id = 'a1b7f4d2-8c36-4e95-b07d-5d2c9e6f3b02';
  defects.push({ ...defect, defect_id, description: long('Müller & Söhne sees another one.') });
  for (const entry of timelogs.slice(0, 2)) entry.note = `${entry.note}, which took until the evening ${MARKER}`;
  // Each entry has another day, so that a filter by days has an effect.
  for (const [index, entry] of timelogs.entries()) entry.date = `2026-01-1${index + 2}`;
  const call = withTheirClock(
    clientAtNoon(await startMutated(sandbox.url, mutation, options ? undefined : answersOfSandbox)).call,
  );
  const config = defineConfig({
    connections: { main: { operations: overrides } },
    github: { repositories: [{ name: 'acme/web', connection: 'main', issueToDefect: { projectId: PROJECT } }] },
    people: [{ github: 'mira', email: 'mira.novak@example.com' }],
  });
  const findings = await inOrder([connectionCheck('main', config, call)]);
  return new Map(findings.map(({ what, verdict, detail }) => [what.replace('main: ', ''), `${verdict}: ${detail}`]));
}

export const LISTS = [
  ...['projects/list', 'projects/search', 'users/list', 'defects/list', 'timelogs/list', 'tasks/list', 'tasks/search'],
];

/** The fields that the relay reads in a list. */
export const READ_FIELDS = Object.entries({
  'projects/list': ['project_id', 'name'],
  'users/list': ['user_id', 'email', 'name'],
  'defects/list': ['defect_id', 'description'],
  'timelogs/list': ['user_id', 'date', 'hours', 'task_id', 'note'],
  'tasks/list': ['task_id'],
  'tasks/search': ['task_id'],
}).flatMap(([path, fields]) => fields.map((field) => [path, field] as const));

let kept: Promise<Found> | undefined;
/** The findings about the unchanged service. */
export const unmutated = () => (kept ??= examined());

/** Limits a difference to one operation. */
export const at = (path: string, { reads, answers }: Mutation): Mutation => ({
  reads: (payload, asked) => (reads && asked === path ? reads(payload, asked) : payload),
  answers: (answer, payload, asked) => (answers && asked === path ? answers(answer, payload, asked) : answer),
});
export const reads = (change: NonNullable<Mutation['reads']>): Mutation => ({ reads: change });
export const answers = (change: NonNullable<Mutation['answers']>): Mutation => ({ answers: change });
/** Changes each row of a list, or the record of an answer. */
export const rows = (change: (row: Row) => unknown) =>
  answers((answer) => {
    for (const row of [answer.data].flat() as Row[]) change(row);
    return answer;
  });
export const any = (fields: Row) => rows((row) => Object.assign(row, fields));
export const without = (...fields: string[]) =>
  rows((row) => {
    for (const field of fields) delete row[field];
  });
export const hours = (change: (hours: number) => unknown) =>
  rows((row) => Object.assign(row, { hours: change(Number(row.hours)) }));
export const paginates = (change: Row | undefined) =>
  answers((answer) => ({ ...answer, pagination: change && { ...answer.pagination, ...change } }));
/** No list has pagination. */
export const untold = paginates(undefined);
export const reading = (fields: Row) => reads((payload) => ({ ...payload, ...fields }));
export const ignores = (...fields: string[]) =>
  reads((payload) => Object.fromEntries(Object.entries(payload).filter(([name]) => !fields.includes(name))));
export const refused = (status: number) => reads(() => ({ refused: status }));
export const refuses = (field: string, refused = 422) =>
  reads((payload) => (field in payload ? { refused, errors: { [field]: 'is unknown' } } : payload));
