import { expect, it } from 'vitest';
import type { Defect, Link } from '../../lib/links/link-life.ts';
import * as life from '../../lib/links/link-life.ts';

const issue = { name: 'acme/web#1', body: '', author: '@ada', url: 'https://github.com/acme/web/issues/1' };
const opened = { createdAt: '2026-03-01T12:00:00Z', state: 'open', stateReason: null, labels: [] };
const titled = (title: string) => ({ ...issue, ...opened, title });
const version = '2026-03-02T12:00:00Z';
const tied = { state: titled('a'), name: 'acme/web#1', version, wanted: true, revision: 3, tied: true };
const read = (title: string, version: string) => ({ state: titled(title), version, name: tied.name, wanted: true });

const told = read('b', tied.version);
const news = (title: string, revision: number, version = tied.version) => {
  return { ...tied, state: titled(title), version, revision, tied: false };
};
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
const sentMeanwhile = made({ applied: { ...applied, body: 'x' }, updating: { ...update, fields: ['state'] } });
const second = { ...update, by: 'run-2' };
const free: Link = { life: 'unclaimed', newest: tied };
const both = { ...news('b', 4), tied: true };
const unwanted = { ...tied, state: titled('b'), wanted: false };
const changed: Link = { ...claimed, newest: news('d', 4) };
const first: Link = { ...claimed, newest: { ...tied, tied: false } };
const again = { ...tied, revision: 4 };

it.each<[string, Link | undefined, Link | undefined]>([
  ['what is unclaimed is claimed', life.claim(unclaimed, held), claimed],
  ['a claim of the job that holds it begins a turn', life.claim(claimed, held), claimed],
  ["a claim of another's is not taken", life.claim(claimed, theirs), undefined],
  ['a claim is given up', life.giveUp(claimed, 'job-1'), unclaimed],
  ["another's claim is not given up", life.giveUp(claimed, 'job-2'), undefined],
  ['what may exist is kept', life.giveUp({ ...claimed, claim: { ...held, inherited: {} } }, 'job-1'), undefined],
  ['a claim is taken over', life.takeOver(claimed, 'job-1', by2), { ...claimed, claim: { ...held, ...by2 } }],
  ['a claim that has gone on is not taken over', life.takeOver(claimed, 'job-2', theirs), undefined],
  ['the finder holds it', life.make(claimed, 'job-1', seven, 'job-2'), made({ updates: 0 }, { ...held, by: 'job-2' })],
  ["a defect is not another's", life.make(claimed, 'job-2', seven), undefined],
  ['an update begins', life.beginUpdate(made(), update, 3), made({ updates: 4, updating: update })],
  ['an update that another has overtaken does not begin', life.beginUpdate(made(), update, 2), undefined],
  [
    'an update after one without an answer leaves its fields in doubt',
    life.beginUpdate(inDoubt, second, 3),
    made({ updates: 4, updating: second, doubtful: { fields: ['body', 'title'], until: AT + 5 } }),
  ],
  ['a refused update has not begun', life.refuseUpdate(updating, 'run-1'), made({ updates: 2 })],
  ['a refusal of an earlier update says nothing', life.refuseUpdate(updating, 'run-0'), undefined],
  [
    'an update begun in doubt leaves it',
    life.finishUpdate(inDoubt, 'run-1', applied, answered(AT - 1)),
    made({ applied, updatedAt: AT, doubtful: doubt }),
  ],
  ['a later one ends it', life.finishUpdate(inDoubt, 'run-1', {}, answered(AT)), made({ updatedAt: AT })],
  ['an answer to an earlier one says nothing', life.finishUpdate(updating, 'run-0', applied, answered(0)), undefined],
  ['what needs no update is noted', life.noteApplied(updating, applied), made({ applied, ...open })],
  ['a claim arrives', life.arrive(unclaimed, claimed, 'issue-1'), claimed],
  ['a defect arrives', life.arrive(unclaimed, made(), 'issue-1'), made()],
  ['a defect arrives once', life.arrive(made({ updates: 8 }), made(), 'issue-1'), made({ updates: 8 })],
  [
    'what was sent for the old issue meanwhile is unknown',
    life.arrive(made({ applied }), sentMeanwhile, 'issue-1'),
    made({ applied: { title: 'a' }, updates: 4, doubtful: { fields: ['state'], until: AT + 5 } }),
  ],
  ['a claim arrives once', life.arrive(claimed, claimed, 'issue-1'), claimed],
  ['the defect of a claim that has arrived follows it', life.arrive(claimed, made(), 'issue-1'), made()],
  ['what arrived before and is free now is there', life.arrive(holds(unclaimed), made(), 'issue-1'), made()],
  ['nothing arrives from an issue without a claim', life.arrive(other, unclaimed, 'issue-1'), other],
  ['a second defect stays where it is', life.arrive(other, made(), 'issue-1'), holds(other)],
  ['a claim stays where a defect is', life.arrive(other, claimed, 'issue-1'), holds(other)],
  ['what arrives again stays told', life.arrive(holds(other, 'job-3'), made(), 'issue-1'), holds(other, 'job-3')],
  ['an issue comes back', life.arrive(left, unclaimed, 'issue-1'), holds(left)],
  ['nothing arrives where a link cannot be read', life.arrive(unreadable, made(), 'issue-1'), undefined],
  ['what arrived is dismissed', life.dismiss(holds(claimed)), claimed],
  ['a person hears what arrived', life.tell(holds(claimed), 'job-3'), holds(claimed, 'job-3')],
  ['a person hears nothing', life.tell(claimed, 'job-3'), undefined],
  ['an issue leaves, with what it had', life.leave(claimed, to), left],
  ['what arrived at an issue that leaves is remembered', life.leave(holds(made()), to), holds(left)],
  ['an issue that has left does not leave again', life.leave(left, to), undefined],
  ['a person sets a defect', life.setDefect(holds(claimed), theirs, 7), made({ updates: 0 }, theirs)],
  ['a defect is restored', life.restore(unclaimed, held, 7, { times: 2, at: 0 }), unsent],
  ['one of a later clearing, too', life.restore(unclaimed, held, 7, CLEARED), { ...unsent, cleared: CLEARED }],
  ['a defect from before a clearing is not restored', life.restore(unclaimed, held, 7, { times: 1, at: 0 }), undefined],
  ['nothing is restored over a claim', life.restore(claimed, held, 7, CLEARED), undefined],
  ['a link is cleared once more', life.clear(made(), 9), { ...unclaimed, cleared: CLEARED }],
  ['an unreadable link is cleared most often', life.clear(unreadable, 9), { ...free, cleared: { times: 9, at: 9 } }],
  ['an older state is not kept', life.keep(claimed, { ...tied, version: '' }), undefined],
  ['a newer state has no tie', life.keep(claimed, read('b', '3')), { ...claimed, newest: news('b', 4, '3') }],
  ['the first state has turn 1', life.keep({ life: 'unclaimed' }, tied), { life: 'unclaimed', newest: news('a', 1) }],
  ['of two that want a defect the last is kept', life.keep(claimed, told), { ...claimed, newest: both }],
  ['a tie stays where one of both wants a defect', life.keep(claimed, unwanted), claimed],
  ['the same state is kept once', life.keep(claimed, tied), claimed],
  ['a tie ends as GitHub says', life.settleTie(claimed, tied, told), { ...claimed, newest: news('b', 3) }],
  ['or with a later state', life.settleTie(claimed, tied, read('c', '3')), { ...claimed, newest: news('c', 3, '3') }],
  ['a tie ends as it is where GitHub says an earlier state', life.settleTie(claimed, tied, read('old', '1')), settled],
  ['a tie ends as it is where GitHub cannot be asked', life.settleTie(claimed, tied, undefined), settled],
  ['a tie is left alone where another event came', life.settleTie(changed, tied, told), undefined],
  [
    'of two states of one time that which wants a defect is kept',
    life.keep(first, unwanted),
    { ...first, newest: again },
  ],
])('a link: %s', (_, link, expected) => {
  expect(link).toEqual(expected);
});
