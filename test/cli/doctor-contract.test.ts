import { describe, expect, it } from 'vitest';
import { checkConnection } from '../../cli/doctor/connection.ts';
import { defineConfig, type RelayConfigInput } from '../../lib/config/schema.ts';
import { withOverride } from '../../lib/service/partner/operation.ts';
import { operations } from '../../lib/service/partner/operations/operations.ts';
import { type Envelope, type Mutation, type Row, startMutated, takesAtMost } from '../mutated-service.ts';
import { PROJECT } from '../relay.ts';
import { clientAtNoon, sandboxAndClient } from '../service/partner/client-at-noon.ts';

type Overrides = NonNullable<RelayConfigInput['connections'][string]['operations']>;
/** By what was looked at: `good: the second page follows the first`. */
type Found = ReadonlyMap<string, string>;

/** What doctor finds out about the connection to a service that differs. */
async function examined(mutation: Mutation = {}, overrides: Overrides = {}): Promise<Found> {
  const { sandbox } = await sandboxAndClient();
  const { defects, timelogs } = sandbox.data;
  const [defect] = defects as [(typeof defects)[number]];
  defects.push({ ...defect, defect_id: 'a1b7f4d2-8c36-4e95-b07d-5d2c9e6f3b02', description: 'Another one' });
  // The day of each entry is another, so that a filter by days can be told from none.
  for (const [index, entry] of timelogs.entries()) entry.date = `2026-01-1${index + 2}`;
  const { call } = clientAtNoon(await startMutated(sandbox.url, mutation));
  const config = defineConfig({
    connections: { main: { operations: overrides } },
    github: { repositories: [{ name: 'acme/web', connection: 'main', issueToDefect: { projectId: PROJECT } }] },
    people: [{ github: 'mira', email: 'mira.novak@example.com' }],
  });
  const findings = await checkConnection('main', config, call);
  return new Map(findings.map(({ what, verdict, detail }) => [what.replace('main: ', ''), `${verdict}: ${detail}`]));
}

const LISTS = [
  ...['projects/list', 'projects/search', 'users/list', 'defects/list', 'timelogs/list', 'tasks/list', 'tasks/search'],
];

/** Changes each row of a list, or the one record of an answer. */
const rows = (path: string, change: (row: Row) => unknown): Mutation => ({
  answers(answer, _, at) {
    if (at === path) for (const row of [answer.data].flat() as Row[]) change(row);
    return answer;
  },
});
const without = (path: string, ...fields: string[]) =>
  rows(path, (row) => {
    for (const field of fields) delete row[field];
  });
const empty = (path: string, ...fields: string[]) =>
  rows(path, (row) => Object.assign(row, Object.fromEntries(fields.map((field) => [field, null]))));
const reads = (path: string, change: (payload: Row) => ReturnType<NonNullable<Mutation['reads']>>): Mutation => ({
  reads: (payload, at) => (at === path ? change(payload) : payload),
});
const ignores = (path: string, ...fields: string[]) =>
  reads(path, (payload) => Object.fromEntries(Object.entries(payload).filter(([name]) => !fields.includes(name))));
const refuses = (path: string, field: string, refused = 422) =>
  reads(path, (payload) => (field in payload ? { refused, errors: { [field]: 'is unknown' } } : payload));
const answers = (
  path: string,
  change: (answer: Envelope) => ReturnType<NonNullable<Mutation['answers']>>,
): Mutation => ({
  answers: (answer, _, at) => (at === path ? change(answer) : answer),
});
const paginates = (path: string, change: Row | undefined) =>
  answers(path, (answer) => ({ ...answer, pagination: change && { ...answer.pagination, ...change } }));
const both = (one: Mutation, other: Mutation): Mutation => ({ ...one, ...other });
const hours = (change: (hours: number) => unknown, path = 'timelogs/list') =>
  rows(path, (row) => Object.assign(row, { hours: change(Number(row.hours)) }));

/** How an instance differs, and what doctor says of it: by default in what it finds of that operation. */
type Mutant = [path: string, differs: string, mutation: Mutation, said: RegExp, finding?: string];

const refused = (path: string, status: number) => reads(path, () => ({ refused: status }));
const any = (path: string, fields: Row) => rows(path, (row) => Object.assign(row, fields));
const LATER = /^unknown: .*429.*uses up the limit/;
const MINUTES = /^unknown: .*if those are minutes, set the unit/;

/** Harmful ways in which an instance can differ, by what docs/partner-api.md assumes or does not show. */
const harmful: readonly Mutant[] = [
  ...LISTS.flatMap((path): Mutant[] => {
    const paged = `${path} page by page`;
    const untold = paginates(path, undefined);
    const whole = /^bad: returns no second page.*if it comes whole, set paged: false(?!.*nothing in relay\.config\.ts)/;
    const cut = reads(path, (payload) => ({
      ...payload,
      page: 1,
      [path === 'projects/list' ? 'limit' : 'per_page']: 2,
    }));
    const cutOff = /^bad: returns no second page, so it may be cut off after 2 rows/;
    const isLast = paginates(path, { last_page: 1, total: null });
    const elsewhere = answers(path, (answer) => ({ ...answer, data: { items: answer.data } }));
    return [
      [path, 'ignores page, untold', both(ignores(path, 'page'), untold), whole, paged],
      [path, 'is cut off, untold', both(cut, untold), cutOff, paged],
      [path, 'says that page 1 is the last', isLast, /^bad: comes whole by its pagination, but 1 of/, paged],
      [path, 'is on page 1 for ever', paginates(path, { current_page: 1 }), /^bad: returns no second page/, paged],
      [path, 'is not there', refused(path, 404), /^bad: .*404/],
      [path, 'is beyond the key', refused(path, 403), /^bad: .*403/],
      [path, 'takes 5 rows at most', both(takesAtMost(5), {}), /^bad: .*422/],
      [path, 'has other pagination', paginates(path, { current_page: '1' }), /^bad: .*unreadable/],
      [path, 'has its rows elsewhere', elsewhere, /^bad: .*unreadable/],
    ];
  }),
  ...Object.entries({
    'users/list': ['user_id', 'email', 'name'],
    'defects/list': ['defect_id', 'description'],
    'timelogs/list': ['user_id', 'date', 'hours', 'task_id', 'note'],
    'tasks/list': ['task_id'],
    'tasks/search': ['task_id'],
  }).flatMap(([path, fields]) =>
    fields.map(
      (field): Mutant => [path, `has no ${field}`, without(path, field), new RegExp(`^(bad|unknown): .*${field}`)],
    ),
  ),
  ...['tasks/list', 'tasks/search'].map(
    (path): Mutant => [path, 'has no names', without(path, 'name', 'title'), /^bad: lacks name/],
  ),
  ...Object.entries({
    'users/list': 'email',
    'defects/list': 'description',
    'timelogs/list': 'note',
    'tasks/search': 'name',
  }).map(
    ([path, field]): Mutant => [
      path,
      `has no ${field} in any row`,
      empty(path, field),
      new RegExp(`^unknown: .*${field}`),
    ],
  ),
  ...(
    [
      ['defects/list', ['project_id']],
      ['timelogs/list', ['user_id']],
      ['timelogs/list', ['task_id']],
      ['timelogs/list', ['date_from', 'date_to']],
      ['timelogs/list', ['date_to']],
    ] as const
  ).map(([path, fields]): Mutant => {
    const filter = fields.includes('date_to' as never) ? 'date_from and date_to' : fields[0];
    return [path, `ignores ${fields}`, ignores(path, ...fields), /^bad: .* is ignored/, `${path} by ${filter}`];
  }),
  ...(
    [
      ['tasks/list', 'project_id', PROJECT, /^bad: .* is ignored/],
      ['tasks/search', 'q', '', /^bad: .* is ignored/],
      ['projects/search', 'q', '', /^bad: q is ignored.*so relay\.config\.ts corrects neither/],
    ] as const
  ).map(
    ([path, filter, value, said]): Mutant => [
      path,
      `ignores ${filter}`,
      reads(path, (payload) => ({ ...payload, [filter]: value })),
      said,
      `${path} by ${filter}`,
    ],
  ),
  ['projects/search', 'calls q otherwise', refuses('projects/search', 'q'), /^bad: .*422/],
  [
    'tasks/search',
    'calls q otherwise',
    refuses('tasks/search', 'q'),
    /^bad: .*422.*operations\['tasks\/search'\]\.fields/,
  ],
  [
    'timelogs/list',
    'refuses its filter',
    refuses('timelogs/list', 'date_from', 400),
    /^bad: .*400/,
    'timelogs/list by date_from and date_to',
  ],
  ['tasks/detail', 'takes another field', refuses('tasks/detail', 'task_id'), /^bad: .*422.*fields/],
  [
    'tasks/detail',
    'returns any task',
    any('tasks/detail', { task_id: 'another' }),
    /^bad: does not return what it is asked for/,
  ],
  ['timelogs/detail', 'takes another field', refuses('timelogs/detail', 'timelog_id'), /^bad: .*422/],
  ['timelogs/detail', 'returns any entry', any('timelogs/detail', { date: '2026-01-30' }), /^bad: does not return/],
  ['timelogs/detail', 'counts minutes', hours((value) => value * 60, 'timelogs/detail'), /^bad: does not return/],
  ['timelogs/detail', 'is not there', refused('timelogs/detail', 404), /^bad: .*404/],
  ['timelogs/list', 'counts minutes', hours((value) => value * 60), /^bad: .*no more than 24/],
  ['timelogs/list', 'counts seconds', hours((value) => value * 3_600), /^bad: .*no more than 24/],
  ['timelogs/list', 'has few minutes', hours((value) => Math.round(value) * 3), MINUTES],
  ['timelogs/list', 'has minutes up to 11', hours((value) => Math.round(value) + 5), MINUTES],
  ['timelogs/list', 'has fewer minutes', hours(() => 15), MINUTES],
  ['timelogs/list', 'has five minutes', hours(() => 5), MINUTES],
  ['timelogs/list', 'has hours in words', hours((value) => `${value} h`), /^bad: .*hours: expected/],
  ['timelogs/list', 'has other dates', any('timelogs/list', { date: '13.01.2026' }), /^bad: .*date: expected/],
  [
    'timelogs/list',
    'has other ids of users',
    rows('timelogs/list', (row) => Object.assign(row, { user_id: `u-${row.user_id}` })),
    /^bad: no user_id/,
    'timelogs/list of users',
  ],
  [
    'users/list',
    'has other addresses',
    any('users/list', { email: 'x@example.com' }),
    /^bad: no user of the service/,
    'people',
  ],
  [
    'users/list',
    'is cut off before the person',
    both(
      reads('users/list', (payload) => ({ ...payload, page: 1, per_page: 1 })),
      paginates('users/list', undefined),
    ),
    /^unknown: none of the users that can be read/,
    'people',
  ],
  [
    'projects/list',
    'has not the project',
    any('projects/list', { project_id: 'f00' }),
    /^bad: the key cannot access/,
    'github.repositories.0.issueToDefect.projectId',
  ],
  ['validate', 'has no data', answers('validate', (answer) => ({ ...answer, data: {} })), /^bad/, 'credentials'],
  [
    'validate',
    'answers as a proxy',
    answers('validate', () => ({ status: 200, body: '<!doctype html>' })),
    /^bad: .*HTML/,
    'credentials',
  ],
  ['validate', 'has no success', answers('validate', ({ data }) => ({ data })), /^bad: .*envelope/, 'credentials'],
  ['validate', 'meets the limit', refused('validate', 429), LATER, 'credentials'],
  ['users/list', 'meets the limit', refused('users/list', 429), LATER],
];

let kept: Promise<Found> | undefined;
const unmutated = () => (kept ??= examined());

describe('doctor', () => {
  it('sees what the relay assumes in the sandbox, and says of the rest why it is not tried', async () => {
    const unchanged = await unmutated();
    expect([...unchanged].filter(([, found]) => found.startsWith('bad'))).toEqual([]);
    const unknown = [...unchanged].filter(([, found]) => found.startsWith('unknown'));
    expect(unknown.filter(([, found]) => !found.includes('not tried'))).toEqual([]);
    expect(unknown.map(([what]) => what)).toEqual([
      ...['timelogs/create', 'defects/create', 'defects/link'],
      ...['ids that people type', 'markers', 'the same bytes twice'],
    ]);
  });

  it.each(harmful)('says where an instance differs: %s %s', async (path, _, mutation, said, finding = path) => {
    expect((await unmutated()).get(finding)).toMatch(/^good/);
    expect((await examined(mutation)).get(finding)).toMatch(said);
  });

  it.each(LISTS)('is content with smaller pages of %s', async (path) => {
    const { reads = (payload: Row) => payload } = takesAtMost(50);
    const found = await examined({ reads: (payload, at) => (at === path ? reads(payload, at) : payload) });
    expect(found.get(path)).toMatch(/^good: .*; takes pages of 50 rows$/);
  });

  it('is content with a list that comes whole if relay.config.ts says so, and not with one that does not', async () => {
    const path = 'users/list';
    const overrides = { [path]: { paged: false } };
    const whole = both(ignores(path, 'page', 'per_page'), paginates(path, undefined));
    expect((await examined(whole, overrides)).get(`${path} page by page`)).toBe('good: comes whole, in one answer');
    const cut = both(ignores(path, 'page'), paginates(path, undefined));
    expect((await examined(cut, overrides)).get(`${path} page by page`)).toMatch(
      /^bad: .*by relay.config.ts \(paged: false\), but 1 of/,
    );
  });

  it('says which ids the service writes as numbers and which as text', async () => {
    const found = await examined({
      answers(answer) {
        for (const row of [answer.data].flat() as Row[]) {
          if ('task_id' in row) row.task_id = '12';
          if ('defect_id' in row) row.defect_id = 7;
        }
        return answer;
      },
    });
    expect(found.get('ids that people type')).toMatch(/^unknown: .*task_id is a text.*not tried for item_id/);
    expect(found.get('ids that people type')).toContain('defect_id is a number');
  });

  it('advises nothing that relay.config.ts refuses', async () => {
    for (const path of [...LISTS, 'tasks/detail', 'timelogs/detail']) {
      const detail = (await examined(reads(path, () => ({ refused: 404 })))).get(path) ?? '';
      const evidence = operations.get(path)?.evidence;
      expect(detail).toContain(
        {
          documented: 'so relay.config.ts corrects neither',
          'payload not shown': 'its path is documented',
          assumed: 'check the path',
        }[evidence ?? 'documented'],
      );
      const names = { path: 'other', fields: { user_id: 'id' } };
      const advised = evidence === 'assumed' ? names : evidence === 'documented' ? {} : { fields: names.fields };
      expect(withOverride(operations.get(path) ?? expect.fail(), advised).name).toBe(path);
      expect(() => defineConfig({ connections: { main: { operations: { [path]: advised } } } })).not.toThrow();
    }
  });
});
