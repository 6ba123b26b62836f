import { expect, it } from 'vitest';
import {
  arrive,
  beginUpdate,
  claim,
  clear,
  type Defect,
  dismiss,
  finishUpdate,
  giveUp,
  keep,
  type Link,
  leave,
  make,
  noteApplied,
  refuseUpdate,
  restore,
  setDefect,
  settleTie,
  takeOver,
  tell,
} from '../../lib/links/link-life.ts';

const titled = (title: string) => ({
  name: 'acme/web#1',
  title,
  body: '',
  author: '@ada',
  url: 'https://github.com/acme/web/issues/1',
  createdAt: '2026-03-01T12:00:00Z',
  state: 'open',
  stateReason: null,
  labels: [],
});
const version = '2026-03-02T12:00:00Z';
const tied = { state: titled('a'), name: 'acme/web#1', version, wanted: true, revision: 3, tied: true };
const read = (title: string, version: string) => ({ state: titled(title), version, name: tied.name, wanted: true });

const told = read('b', tied.version);
const news = (title: string, revision: number, version = tied.version) => ({
  ...tied,
  state: titled(title),
  version,
  revision,
  tied: false,
});
const AT = Date.parse(tied.version);
const held = { by: 'job-1', connection: 'main', marker: 'm' };
const theirs = { by: 'job-9', connection: 'main', marker: 'other' };
const to = { entity: 'issue-2', name: 'acme/web#2' };
const CLEARED = { times: 3, at: 9 };
const known = { newest: tied, turn: 3, cleared: { times: 2, at: AT } };
const unclaimed: Link = { life: 'unclaimed', ...known };
const claimed: Link = { life: 'claimed', claim: held, ...known };
const settled: Link = { ...claimed, newest: news('a', 3) };
const left: Link = { life: 'moved', to, ...known };
const unreadable: Link = { life: 'unreadable', wrong: ['defect'], item: {}, newest: tied };
const doubt = { fields: ['body'], until: AT };
const update = { by: 'run-1', fields: ['title'], until: AT + 5 };
const made = (defect: Partial<Defect> = {}, holder = held): Link & { life: 'made' } => ({
  life: 'made',
  claim: holder,
  defect: { id: 7, applied: {}, updates: 3, ...defect },
  ...known,
});
const by2 = { by: 'job-2', connection: 'other' };
const unsent = made({ updates: 0 });
const seven = { id: 7, applied: {} };
const updating = made({ updating: update });
const inDoubt = made({ updating: update, doubtful: doubt });
const open = { doubtful: { fields: ['title'], until: AT + 5 } };
const other = made({}, theirs);
const holds = (link: Link, toldBy?: string): Link => ({
  ...link,
  arrived: { from: 'issue-1', ...(toldBy && { toldBy }) },
});
const answered = (begunAt: number) => ({ begunAt, updatedAt: AT });
const applied = { title: 'a', body: 'b', state: 'c' };

it.each<[string, Link | undefined, Link | undefined]>([
  ['what is unclaimed is claimed', claim(unclaimed, held), claimed],
  ['a claim of the job that holds it begins a turn', claim(claimed, held), claimed],
  ["a claim of another's is not taken", claim(claimed, theirs), undefined],
  ['a claim is given up', giveUp(claimed, 'job-1'), unclaimed],
  ["another's claim is not given up", giveUp(claimed, 'job-2'), undefined],
  ['what may exist is kept', giveUp({ ...claimed, claim: { ...held, inherited: {} } }, 'job-1'), undefined],
  [
    'a claim is taken over, marker and all',
    takeOver(claimed, 'job-1', by2),
    { ...claimed, claim: { ...held, ...by2 } },
  ],
  ['a claim that has gone on is not taken over', takeOver(claimed, 'job-2', theirs), undefined],
  ['the finder holds it', make(claimed, 'job-1', seven, 'job-2'), made({ updates: 0 }, { ...held, by: 'job-2' })],
  ["a defect is not another's", make(claimed, 'job-2', seven), undefined],
  ['an update begins', beginUpdate(made(), update, 3), made({ updates: 4, updating: update })],
  ['an update that another has overtaken does not begin', beginUpdate(made(), update, 2), undefined],
  [
    'an update after one without an answer leaves its fields in doubt',
    beginUpdate(inDoubt, { ...update, by: 'run-2' }, 3),
    made({ updates: 4, updating: { ...update, by: 'run-2' }, doubtful: { fields: ['body', 'title'], until: AT + 5 } }),
  ],
  ['a refused update has not begun', refuseUpdate(updating, 'run-1'), made({ updates: 2 })],
  ['a refusal of an earlier update says nothing', refuseUpdate(updating, 'run-0'), undefined],
  [
    'an update begun in doubt leaves it',
    finishUpdate(inDoubt, 'run-1', applied, answered(AT - 1)),
    made({ applied, updatedAt: AT, doubtful: doubt }),
  ],
  ['a later one ends it', finishUpdate(inDoubt, 'run-1', {}, answered(AT)), made({ updatedAt: AT })],
  ['an answer to an earlier one says nothing', finishUpdate(updating, 'run-0', applied, answered(0)), undefined],
  ['what needs no update is noted', noteApplied(updating, applied), made({ applied, ...open })],
  ['a claim arrives', arrive(unclaimed, claimed, 'issue-1'), claimed],
  ['a defect arrives', arrive(unclaimed, made(), 'issue-1'), made()],
  ['a defect arrives once', arrive(made({ updates: 8 }), made(), 'issue-1'), made({ updates: 8 })],
  [
    'what was sent for the old issue meanwhile is unknown',
    arrive(
      made({ applied }),
      made({ applied: { ...applied, body: 'x' }, updating: { ...update, fields: ['state'] } }),
      'issue-1',
    ),
    made({ applied: { title: 'a' }, updates: 4, doubtful: { fields: ['state'], until: AT + 5 } }),
  ],
  ['a claim arrives once', arrive(claimed, claimed, 'issue-1'), claimed],
  ['the defect of a claim that has arrived follows it', arrive(claimed, made(), 'issue-1'), made()],
  ['what arrived before and is free now is there', arrive(holds(unclaimed), made(), 'issue-1'), made()],
  ['nothing arrives from an issue without a claim', arrive(other, unclaimed, 'issue-1'), other],
  ['a second defect stays where it is', arrive(other, made(), 'issue-1'), holds(other)],
  ['a claim stays where a defect is', arrive(other, claimed, 'issue-1'), holds(other)],
  ['what arrives again stays told', arrive(holds(other, 'job-3'), made(), 'issue-1'), holds(other, 'job-3')],
  ['an issue comes back', arrive(left, unclaimed, 'issue-1'), holds(left)],
  ['nothing arrives where a link cannot be read', arrive(unreadable, made(), 'issue-1'), undefined],
  ['what arrived is dismissed', dismiss(holds(claimed)), claimed],
  ['a person hears what arrived', tell(holds(claimed), 'job-3'), holds(claimed, 'job-3')],
  ['a person hears nothing', tell(claimed, 'job-3'), undefined],
  ['an issue leaves, with what it had', leave(claimed, to), left],
  ['what arrived at an issue that leaves is remembered', leave(holds(made()), to), holds(left)],
  ['an issue that has left does not leave again', leave(left, to), undefined],
  ['a person sets a defect', setDefect(holds(claimed), theirs, 7), made({ updates: 0 }, theirs)],
  ['a defect is restored', restore(unclaimed, held, 7, { times: 2, at: 0 }), unsent],
  ['one of a later clearing, too', restore(unclaimed, held, 7, CLEARED), { ...unsent, cleared: CLEARED }],
  ['a defect from before a clearing is not restored', restore(unclaimed, held, 7, { times: 1, at: 0 }), undefined],
  ['nothing is restored over a claim', restore(claimed, held, 7, CLEARED), undefined],
  ['a link is cleared once more', clear(made(), 9), { ...unclaimed, cleared: CLEARED }],
  [
    'an unreadable link is cleared most often',
    clear(unreadable, 9),
    { life: 'unclaimed', newest: tied, cleared: { times: 9, at: 9 } },
  ],
  ['an older state is not kept', keep(claimed, { ...tied, version: '' }), undefined],
  ['a newer state has no tie', keep(claimed, read('b', '3')), { ...claimed, newest: news('b', 4, '3') }],
  ['the first state has turn 1', keep({ life: 'unclaimed' }, tied), { life: 'unclaimed', newest: news('a', 1) }],
  [
    'of two that want a defect the last is kept',
    keep(claimed, told),
    { ...claimed, newest: { ...news('b', 4), tied: true } },
  ],
  [
    'a tie stays where one of both wants a defect',
    keep(claimed, { ...tied, state: titled('b'), wanted: false }),
    claimed,
  ],
  ['the same state is kept once', keep(claimed, tied), claimed],
  ['a tie ends as GitHub says', settleTie(claimed, tied, told), { ...claimed, newest: news('b', 3) }],
  ['or with a later state', settleTie(claimed, tied, read('c', '3')), { ...claimed, newest: news('c', 3, '3') }],
  ['a tie ends as it is where GitHub says an earlier state', settleTie(claimed, tied, read('old', '1')), settled],
  ['a tie ends as it is where GitHub cannot be asked', settleTie(claimed, tied, undefined), settled],
  [
    'a tie is left alone where another event came',
    settleTie({ ...claimed, newest: news('d', 4) }, tied, told),
    undefined,
  ],
  [
    'the state that wants a defect is kept, if two states have one time',
    keep({ ...claimed, newest: { ...tied, tied: false } }, { ...tied, state: titled('b'), wanted: false }),
    { ...claimed, newest: { ...tied, revision: 4 } },
  ],
])('a link: %s', (_, link, expected) => {
  expect(link).toEqual(expected);
});
