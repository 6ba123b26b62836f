import { describe, expect, it } from 'vitest';
import type { SandboxOptions } from '../../sandbox/sandbox.ts';
import type { Mutation, Row } from '../mutated-service.ts';
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
  reads,
  refused,
  rows,
  unmutated,
  untold,
} from './examined-service.ts';

interface Mutant {
  differs: string;
  /** What a user of the relay would lose; undefined for a harmless difference. */
  loses?: string | undefined;
  mutation?: Mutation;
  sandbox?: SandboxOptions;
}

const LOSES: Readonly<Record<string, string>> = {
  'projects/list': 'the choice of a project for a defect',
  'projects/search': 'projects that are found',
  'users/list': 'time and reminders of people',
  'defects/list': 'defects that are found again, so a second one may be made',
  'timelogs/list': 'reminders that are right',
  'tasks/list': 'tasks that are found',
  'tasks/search': 'time that is logged by the name of a task',
};

/** Differences of one kind. */
interface Kind {
  /** Harmful differences of one operation, whose path comes first. */
  of?: Differences;
  /** Harmful differences of all operations, by what a user of the relay would lose. */
  everywhere?: Readonly<Record<string, Differences>>;
  /** Harmless differences, of one operation, whose path comes first, or of all. */
  harmless?: Differences;
  others?: readonly Mutant[];
}
type Differences = Readonly<Record<string, Mutation>>;

/** The same differences for each operation. */
const each = (paths: readonly string[], differences: Differences): Differences =>
  Object.fromEntries(
    paths.flatMap((path) => Object.entries(differences).map(([differs, mutation]) => [`${path} ${differs}`, mutation])),
  );
const pathOf = (differs: string) => differs.split(' ')[0] ?? '';
const mutantsOf = ({ of = {}, everywhere = {}, harmless = {}, others = [] }: Kind): Mutant[] => [
  ...Object.entries(of).map(([differs, mutation]): Mutant => {
    const path = pathOf(differs);
    return { differs, loses: LOSES[path] ?? path, mutation: at(path, mutation) };
  }),
  ...Object.entries(everywhere).flatMap(([loses, all]) =>
    Object.entries(all).map(([differs, mutation]) => ({ differs, loses, mutation })),
  ),
  ...Object.entries(harmless).map(([differs, mutation]) => {
    const path = pathOf(differs);
    return { differs, mutation: path.includes('/') ? at(path, mutation) : mutation };
  }),
  ...others,
];
/** A service whose clock is this many minutes ahead. */
const aheadBy = (minutes: number): SandboxOptions => ({ clock: () => Date.UTC(2026, 1, 3, 12, minutes) });

const body = (change: (json: string) => string | Buffer, status = 200, headers: Record<string, string> = {}) =>
  answers((answer) => ({ status, body: change(JSON.stringify(answer)), headers }));
const data = (change: (data: unknown) => unknown) => answers((answer) => ({ ...answer, data: change(answer.data) }));
const list = (change: (rows: Row[]) => Row[]) => data((all) => change(all as Row[]));
const texts = (field: string, change: (text: string) => string) =>
  rows((row) => (typeof row[field] === 'string' ? Object.assign(row, { [field]: change(row[field]) }) : row));
const both = (...mutations: Mutation[]): Mutation => Object.assign({}, ...mutations);
const isAsked = ({ page }: Row) => Number(page ?? 1);
const sizeOf = ({ per_page, limit }: Row) => Number(per_page ?? limit ?? 20);
/** Answers a request for a page behind the last, without pagination. */
const behindLast = (answer: (payload: Row) => Row | { refused: number }) =>
  both(
    untold,
    reads((payload) => (isAsked(payload) > 1 && sizeOf(payload) > 5 ? answer(payload) : payload)),
  );
const ofMine = list((all) => all.filter(({ user_id }) => user_id === all[0]?.user_id));
const fromZero = reads((payload) => ('page' in payload ? { ...payload, page: isAsked(payload) + 1 } : payload));
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('[', '&#91;').replaceAll(']', '&#93;');
const garbled = (text: string) => Buffer.from(text).toString('latin1');

const kinds: Readonly<Record<string, Kind>> = {
  'a field has another type': {
    of: {
      'projects/list has numbers for UUIDs': any({ project_id: 7 }),
      'projects/list has isactive as text': any({ isactive: 'true' }),
      'projects/list has hours as text': any({ estimated_hours: '12.5' }),
      'users/list has objects for ids': any({ user_id: { id: 1 } }),
      'users/list has an object for the address': any({ email: { address: 'mira.novak@example.com' } }),
      'defects/list has an object for the description': any({ description: { html: 'It crashes' } }),
      'timelogs/list has negative hours': hours((value) => -value),
      'timelogs/list has seconds since 1970 for dates': any({ date: 1_768_262_400 }),
      'timelogs/list has a list for the user': any({ user_id: ['x'] }),
      'tasks/search has an object for the name': any({ name: { en: 'Release' }, title: { en: 'Release' } }),
      'tasks/search has an object for the id': any({ task_id: { id: 1 } }),
    },
    harmless: {
      'timelogs/list writes hours as 1:30': hours((value) => `${Math.floor(value)}:30`),
      'timelogs/list writes times behind dates': texts('date', (day) => `${day} 09:00:00`),
    },
  },
  'a field is null': {
    of: {
      ...each(LISTS, { 'has no data': data(() => null) }),
      'users/list has no id in any row': any({ user_id: null }),
      'timelogs/list has no hours in any row': any({ hours: null }),
      'timelogs/list has no date in any row': any({ date: null }),
      'tasks/search has no name in any row': any({ name: null, title: null }),
    },
    harmless: {
      'a timer runs': rows((row) =>
        String(row?.timelog_id).endsWith('01') ? Object.assign(row, { hours: null }) : row,
      ),
    },
  },
  'pagination has another shape': {
    of: each(['users/list', 'timelogs/list', 'defects/list'], {
      'has nothing in it': answers((answer) => ({ ...answer, pagination: {} })),
      'has a total of more rows than come': paginates({ total: 90 }),
      'has a total of fewer rows than come': paginates({ total: 1 }),
      'tells nothing, and refuses a page behind the last': behindLast(() => ({ refused: 404 })),
      'tells nothing, and has the last page again': behindLast((payload) => ({ ...payload, page: 1 })),
    }),
  },
  'pages count from 0': {
    of: {
      'users/list does, and ignores the size': both(
        fromZero,
        untold,
        reads((payload) => ({ ...payload, page: isAsked(payload) + 1, per_page: 2 })),
      ),
    },
  },
  'a list is cut': {
    of: {
      'timelogs/list has the entries of the owner of the key only': ofMine,
      'users/list does not have the person': list((all) => all.filter(({ name }) => name !== 'Mira Novak')),
      'projects/list does not have the project': list((all) => all.filter(({ project_id }) => project_id !== PROJECT)),
      'users/list is empty': list(() => []),
      'tasks/search finds nothing': list(() => []),
    },
  },
  'a status': {
    of: {
      'users/list fails': refused(500),
      'users/list is refused for its content': refused(422),
      'users/list is not implemented': refused(501),
      'users/list answers 204': body(() => '', 204),
      'users/list redirects': body(() => '', 302, { location: '/login' }),
    },
    harmless: {
      'every list answers 201': body((json) => json, 201),
    },
  },
  'a clock': {
    others: [
      { differs: 'is ten minutes late', loses: 'the first call of each process', sandbox: aheadBy(-10) },
      { differs: 'is ten minutes ahead', loses: 'the first call of each process', sandbox: aheadBy(10) },
      { differs: 'is two minutes late', sandbox: aheadBy(-2) },
    ],
  },
  'an encoding': {
    of: {
      'defects/list is Latin-1': body((json) => Buffer.from(json, 'latin1')),
      'defects/list is UTF-8 twice': body((json) => garbled(json)),
    },
    everywhere: {
      'names with umlauts': {
        'is Latin-1, and does not say so': body((json) => Buffer.from(json.replaceAll('✓', '?'), 'latin1')),
        'is UTF-8 twice': body((json) => garbled(json)),
      },
    },
    harmless: {
      'has a byte order mark': body((json) => `\ufeff${json}`),
      'defects/list is Latin-1, and says so': body((json) => Buffer.from(json, 'latin1'), 200, {
        'content-type': 'application/json; charset=iso-8859-1',
      }),
    },
  },
  'a text': {
    of: {
      'defects/list is cut in the marker': texts('description', (text) => text.slice(0, -8)),
      'timelogs/list is cut in the marker': texts('note', (text) => text.slice(0, -8)),
      'defects/list escapes markers': texts('description', escaped),
      'timelogs/list escapes markers': texts('note', escaped),
      'defects/list has the first 255 characters': texts('description', (text) => text.slice(0, 255)),
      'defects/list has the beginning': texts('description', (text) => `${text.slice(0, 77)}…`),
      'defects/list escapes names': texts('description', (text) => text.replaceAll('&', '&amp;')),
      'defects/list escapes brackets as Markdown': texts('description', (text) => text.replaceAll(/([[\]])/g, '\\$1')),
      'defects/list breaks lines': texts('description', (text) => text.replace('partner-relay ', 'partner-relay\n')),
      'defects/list breaks words': texts('description', (text) => text.replace('partner-relay', 'partner-\nrelay')),
      'defects/list drops brackets': texts('description', (text) => text.replaceAll(/[[\]]/g, '')),
      'defects/list is in capitals': texts('description', (text) => text.toUpperCase()),
      'timelogs/list has shorter notes than the detail': texts('note', (text) => text.slice(0, 20)),
      'tasks/search escapes names': texts('name', (text) => `${text} &amp; more`),
    },
    harmless: {
      'defects/list wraps texts in HTML': texts('description', (text) => `<p>${text}</p>`),
    },
  },
  'a filter': {
    of: {
      'timelogs/list ignores date_from': ignores('date_from'),
      'timelogs/list ignores user_id beside days': reads((payload) =>
        'date_from' in payload ? { ...payload, user_id: undefined } : payload,
      ),
      'timelogs/list ignores days beside user_id': reads((payload) =>
        'user_id' in payload ? { ...payload, date_from: undefined, date_to: undefined } : payload,
      ),
      'timelogs/list ends before date_to': reads((payload) =>
        payload.date_to === payload.date_from && payload.date_to ? { ...payload, date_to: '2000-01-01' } : payload,
      ),
      'timelogs/list refuses user_id': reads((payload) => ('user_id' in payload ? { refused: 422 } : payload)),
      'timelogs/list finds nothing by task_id': reads((payload) =>
        'task_id' in payload ? { ...payload, task_id: 'other' } : payload,
      ),
      'tasks/search refuses q': reads((payload) => ('q' in payload ? { refused: 422 } : payload)),
      'tasks/search tells capitals from small letters': reads((payload) =>
        payload.q === 'a' || /[A-Z]/.test(String(payload.q)) ? payload : { ...payload, q: 'zzqx' },
      ),
      'tasks/search finds whole names only': reads((payload) =>
        String(payload.q).length > 16 || payload.q === 'a' ? payload : { ...payload, q: 'zzqx' },
      ),
    },
    harmless: {
      'tasks/search wants three characters': reads((payload) =>
        String(payload.q).length < 3 ? { refused: 422 } : payload,
      ),
    },
  },
  'an order': {
    of: {
      'defects/list is another in small pages': answers((answer, payload) =>
        sizeOf(payload) === 1 && isAsked(payload) === 1
          ? { ...answer, data: [{ ...(answer.data as Row[])[0], defect_id: 'other' }] }
          : answer,
      ),
      'users/list has the first row twice': reads((payload) =>
        sizeOf(payload) === 1 ? { ...payload, page: Math.max(1, isAsked(payload) - 1) } : payload,
      ),
    },
  },
  'a limit': {
    everywhere: {
      'every list': {
        'pages have 5 rows at most, or are refused': reads((payload) =>
          sizeOf(payload) > 5 && 'page' in payload ? { refused: 422 } : payload,
        ),
      },
      everything: {
        'the key has no calls left': refused(429),
      },
    },
    harmless: {
      'pages have 2 rows at most': reads((payload) =>
        'page' in payload
          ? { ...payload, per_page: Math.min(2, sizeOf(payload)), limit: Math.min(2, sizeOf(payload)) }
          : payload,
      ),
    },
  },
  'an id': {
    of: {
      'users/list is the same in all rows': any({ user_id: 'u' }),
      'timelogs/list is the same in all rows': any({ timelog_id: 'u' }),
      'timelogs/list has other letters than that of users': texts('user_id', (id) => id.toUpperCase()),
      'users/list is beyond 2^53': rows((row) =>
        Object.assign(row, { user_id: 2 ** 60 + Number.parseInt(String(row.user_id).slice(-2), 16) * 1_000 }),
      ),
      'tasks/detail is not that of the search': reads((payload) => ({ ...payload, task_id: `x${payload.task_id}` })),
      'tasks/detail has another name': reads(({ task_id, ...payload }) => payload),
    },
    harmless: {
      'projects/list writes ids in capitals': texts('project_id', (id) => id.toUpperCase()),
    },
  },
  'an envelope': {
    of: {
      'users/list has its rows by id': data((all) =>
        Object.fromEntries((all as Row[]).map((row) => [row.user_id, row])),
      ),
      'users/list is a bare list': body((json) => JSON.stringify(JSON.parse(json).data)),
    },
    everywhere: {
      everything: {
        'has no success': answers(({ data, pagination }) => ({ data, pagination })),
        'has success as text': answers((answer) => ({ ...answer, success: 'true' })),
        'is around an envelope': answers((answer) => ({ success: true, data: answer })),
        'is XML': body(() => '<?xml version="1.0"?><success>true</success>'),
        'is a page': body(() => '<!doctype html><h1>Welcome</h1>'),
        'is empty': body(() => ''),
        'is cut': body((json) => json.slice(0, -3)),
        'says no': answers((answer) => ({ ...answer, success: false })),
      },
    },
    harmless: {
      'has no message': answers(({ message: _, ...answer }) => answer),
      'has more fields': answers((answer) => ({ ...answer, version: 2, links: [] })),
    },
  },
  'a header': {
    harmless: {
      'says HTML': body((json) => json, 200, { 'content-type': 'text/html' }),
      'sets a cookie': body((json) => json, 200, { 'set-cookie': 'session=1' }),
      'wants a pause': body((json) => json, 200, { 'retry-after': '60' }),
    },
  },
};

/** Doctor's findings that are not good, and that it does not report about the unchanged sandbox. */
async function saidOf({ mutation, sandbox }: Mutant): Promise<string[]> {
  const before = await unmutated();
  const found = await examined(mutation, {}, sandbox);
  return [...found]
    .filter(([what, said]) => !said.startsWith('good') && before.get(what) !== said)
    .map(([, said]) => said);
}

const mutants = Object.entries(kinds).flatMap(([kind, all]) => mutantsOf(all).map((mutant) => ({ kind, ...mutant })));

describe('doctor, with a different service', () => {
  it.each(mutants)('$kind: $differs', async (mutant) => {
    const said = await saidOf(mutant);
    if (mutant.loses !== undefined) expect(said).not.toEqual([]);
    expect(said.filter((one) => mutant.loses === undefined && one.startsWith('bad'))).toEqual([]);
  });
});
