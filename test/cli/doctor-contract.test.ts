import { describe, expect, it } from 'vitest';
import { defineConfig } from '../../lib/config/schema.ts';
import { withOverride } from '../../lib/service/partner/operation.ts';
import { operations } from '../../lib/service/partner/operations/operations.ts';
import { type Mutation, type Row, takesAtMost } from '../mutated-service.ts';
import { PROJECT } from '../relay.ts';
import {
  answers,
  any,
  at,
  examined,
  hours,
  ignores,
  LISTS,
  paginates,
  READ_FIELDS,
  reading,
  reads,
  refused,
  refuses,
  rows,
  unmutated,
  untold,
  without,
} from './examined-service.ts';

const BY_DAYS = 'timelogs/list by date_from and date_to';

/** A difference of an operation, and what doctor says about it, by default in the finding of that operation. */
type Mutant = [path: string, differs: string, mutation: Mutation, said: RegExp, finding?: string];

const LATER = /^unknown: .*429.*or its limit is lower/;
const MINUTES = /^unknown: .*if those are minutes, set the unit/;
const IGNORED = /^bad: .* is ignored/;
const NO_ENVELOPE = /^bad: .*the answer \(200\) is not the documented envelope/;
const PROJECT_OF_ISSUES = 'github.repositories.0.issueToDefect.projectId';
const page = answers(() => ({ status: 200, body: '<!doctype html>' }));
const prefixed = rows((row) => Object.assign(row, { user_id: `u-${row.user_id}` }));
const firstOnly = { ...reading({ page: 1, per_page: 1 }), ...untold };

/** Harmful differences of an instance, in the parts that docs/partner-api.md assumes or does not show. */
const harmful: readonly Mutant[] = [
  ...LISTS.flatMap((path): Mutant[] => {
    const paged = `${path} page by page`;
    const whole = /^bad: returns no second page.*if it comes whole, set paged: false(?!.*nothing in relay\.config\.ts)/;
    const cut = reading({ page: 1, [path === 'projects/list' ? 'limit' : 'per_page']: 2 });
    const cutOff = /^bad: returns no second page, so it may be cut off after 2 rows/;
    const isLast = paginates({ last_page: 1, total: null });
    const elsewhere = answers((answer) => ({ ...answer, data: { items: answer.data } }));
    return [
      [path, 'ignores page, untold', { ...ignores('page'), ...untold }, whole, paged],
      [path, 'is cut off, untold', { ...cut, ...untold }, cutOff, paged],
      [path, 'says that page 1 is the last', isLast, /^bad: comes whole by its pagination, but 1 of/, paged],
      [path, 'is on page 1 for ever', paginates({ current_page: 1 }), /^bad: returns no second page/, paged],
      [path, 'is not there', refused(404), /^bad: .*404/],
      [path, 'is beyond the key', refused(403), /^bad: .*403/],
      [path, 'takes 5 rows at most', takesAtMost(5), /^bad: .*422/],
      [path, 'has other pagination', paginates({ current_page: '1' }), NO_ENVELOPE],
      [path, 'has its rows elsewhere', elsewhere, /^bad: .*the answer \(200\) is other data than declared/],
    ];
  }),
  ...READ_FIELDS.map(
    ([path, field]): Mutant => [path, `has no ${field}`, without(field), RegExp(`^(bad|unknown): .*${field}`)],
  ),
  ['tasks/list', 'has no names', without('name', 'title'), /^bad: lacks name/],
  ['tasks/search', 'has no names', without('name', 'title'), /^bad: lacks name/],
  ['users/list', 'has no email in any row', any({ email: null }), /^unknown: .*email/],
  ['defects/list', 'has no description in any row', any({ description: null }), /^unknown: .*description/],
  ['timelogs/list', 'has no note in any row', any({ note: null }), /^unknown: .*note/],
  ['tasks/search', 'has no name in any row', any({ name: null }), /^unknown: .*name/],
  ['defects/list', 'ignores project_id', ignores('project_id'), IGNORED, 'defects/list by project_id'],
  ['timelogs/list', 'ignores user_id', ignores('user_id'), IGNORED, 'timelogs/list by user_id'],
  ['timelogs/list', 'ignores task_id', ignores('task_id'), IGNORED, 'timelogs/list by task_id'],
  ['timelogs/list', 'ignores days', ignores('date_from', 'date_to'), IGNORED, BY_DAYS],
  ['timelogs/list', 'ignores date_to', ignores('date_to'), IGNORED, BY_DAYS],
  ['timelogs/list', 'refuses its filter', refuses('date_from', 400), /^bad: .*400/, BY_DAYS],
  ['tasks/list', 'ignores project_id', reading({ project_id: PROJECT }), IGNORED, 'tasks/list by project_id'],
  ['tasks/search', 'ignores q', reading({ q: '' }), IGNORED, 'tasks/search by q'],
  [
    'projects/search',
    'ignores q',
    reading({ q: '' }),
    /^bad: q is ignored.*so relay\.config\.ts corrects neither/,
    'projects/search by q',
  ],
  ['projects/search', 'calls q otherwise', refuses('q'), /^bad: .*422/],
  ['tasks/search', 'calls q otherwise', refuses('q'), /^bad: .*422.*operations\['tasks\/search'\]\.fields/],
  ['tasks/detail', 'takes another field', refuses('task_id'), /^bad: .*422.*fields/],
  ['tasks/detail', 'returns any task', any({ task_id: 'another' }), /^bad: does not return what it is asked for/],
  ['timelogs/detail', 'takes another field', refuses('timelog_id'), /^bad: .*422/],
  ['timelogs/detail', 'returns any entry', any({ date: '2026-01-30' }), /^bad: does not return/],
  ['timelogs/detail', 'counts minutes', hours((value) => value * 60), /^bad: does not return/],
  ['timelogs/detail', 'is not there', refused(404), /^bad: .*404/],
  ['timelogs/list', 'counts minutes', hours((value) => value * 60), /^bad: .*no more than 24/],
  ['timelogs/list', 'counts seconds', hours((value) => value * 3_600), /^bad: .*no more than 24/],
  ['timelogs/list', 'has few minutes', hours((value) => Math.round(value) * 3), MINUTES],
  ['timelogs/list', 'has minutes up to 11', hours((value) => Math.round(value) + 5), MINUTES],
  ['timelogs/list', 'has fewer minutes', hours(() => 15), MINUTES],
  ['timelogs/list', 'has five minutes', hours(() => 5), MINUTES],
  ['timelogs/list', 'has hours in words', hours((value) => `${value} h`), /^bad: .*hours: expected/],
  ['timelogs/list', 'has other dates', any({ date: '13.01.2026' }), /^bad: .*date: expected/],
  ['timelogs/list', 'has other ids of users', prefixed, /^bad: no user_id/, 'timelogs/list of users'],
  ['users/list', 'has other addresses', any({ email: 'x@example.com' }), /^bad: no user of the service/, 'people'],
  ['users/list', 'is cut off before the person', firstOnly, /^unknown: none of the users that can be read/, 'people'],
  [
    'projects/list',
    'has not the project',
    any({ project_id: 'f00' }),
    /^bad: the key cannot access/,
    PROJECT_OF_ISSUES,
  ],
  ['validate', 'has no data', answers((answer) => ({ ...answer, data: {} })), /^bad/, 'credentials'],
  ['validate', 'answers as a proxy', page, /^bad: .*HTML/, 'credentials'],
  ['validate', 'has no success', answers(({ data }) => ({ data })), /^bad: .*envelope/, 'credentials'],
  ['validate', 'meets the limit', refused(429), LATER, 'credentials'],
  ['validate', 'is down', refused(500), /^unknown: .*not checked: try again later/, 'credentials'],
  ['users/list', 'meets the limit', refused(429), LATER],
];

describe('doctor', () => {
  it("finds the relay's assumptions in the sandbox, and says why it does not try the others", async () => {
    const unchanged = await unmutated();
    expect([...unchanged].filter(([, found]) => found.startsWith('bad'))).toEqual([]);
    const unknown = [...unchanged].filter(([, found]) => found.startsWith('unknown'));
    expect(unknown.filter(([, found]) => !found.includes('not tried'))).toEqual([]);
    expect(unknown.map(([what]) => what)).toEqual([
      ...['tasks/create', 'timelogs/create', 'defects/create', 'defects/link'],
      ...['ids that people type', 'markers', 'a repeated identical request'],
    ]);
  });

  it.each(harmful)('reports how an instance differs: %s %s', async (path, _, mutation, said, finding = path) => {
    expect((await unmutated()).get(finding)).toMatch(/^good/);
    expect((await examined(at(path, mutation))).get(finding)).toMatch(said);
  });

  it.each(LISTS)('accepts smaller pages of %s', async (path) => {
    const found = await examined(at(path, takesAtMost(50)));
    expect(found.get(path)).toMatch(/^good: .*; takes pages of 50 rows$/);
  });

  it.each([{}, untold])('reports that an instance counts its pages from 0: %j', async (told) => {
    const fromZero = reads((payload) => ('page' in payload ? { ...payload, page: Number(payload.page) + 1 } : payload));
    const found = await examined({ ...fromZero, ...told });
    for (const path of LISTS) {
      expect(found.get(path)).toMatch(/^good: .*counts its pages from 0/);
      expect([path, found.get(`${path} page by page`)]).toEqual([path, expect.stringMatching(/^good/)]);
    }
  });

  it('accepts a complete list only if relay.config.ts says so', async () => {
    const path = 'users/list';
    const overrides = { [path]: { paged: false } };
    const whole = at(path, { ...ignores('page', 'per_page'), ...untold });
    expect((await examined(whole, overrides)).get(`${path} page by page`)).toMatch(/^good: comes whole, in one answer/);
    const cut = at(path, { ...ignores('page'), ...untold });
    expect((await examined(cut, overrides)).get(`${path} page by page`)).toMatch(
      /^bad: .*by relay.config.ts \(paged: false\), but 1 of/,
    );
  });

  it('reports which ids the service writes as numbers and which as texts', async () => {
    const found = await examined({
      answers(answer) {
        for (const row of [answer.data].flat() as Row[]) {
          if ('task_id' in row) row.task_id = '12';
          if ('defect_id' in row) row.defect_id = 7;
          if ('defect_id' in row) row.test_step_id = 8;
        }
        return answer;
      },
    });
    expect(found.get('ids that people type')).toMatch(
      /^unknown: .*task_id is a text.*not tried for item_id, scenario_id, test_case_id, because/,
    );
    expect(found.get('ids that people type')).toContain('test_step_id is a number');
  });

  it('never advises settings that relay.config.ts refuses', async () => {
    for (const path of [...LISTS, 'tasks/detail', 'timelogs/detail']) {
      const detail = (await examined(at(path, refused(404)))).get(path) ?? '';
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
