import fc from 'fast-check';
import { expect, it } from 'vitest';
import { startRelay, type TestRelay } from '../relay.ts';
import { command, lastView, told } from '../slack-requests.ts';
import { workWith } from './changed-config.ts';

const NAME = 'Audit of the books';

interface Shift {
  /** Where in the list, as a part of it. */
  at: number;
  /** How many rows come, or go if it is negative. */
  by: number;
}
/** What happens to a list after each page of it. */
const shifts = fc.array(
  fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), by: fc.integer({ min: -3, max: 3 }) }),
  { minLength: 3, maxLength: 3 },
);

/** Works, and changes the list between its pages. */
async function workWhile(relay: TestRelay, path: string, shift: (shift: Shift) => void, shifts: readonly Shift[]) {
  const left = [...shifts];
  await workWith(
    relay,
    {},
    {
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        const next = String(input).endsWith(path) ? left.shift() : undefined;
        if (next) shift(next);
        return response;
      },
    },
  );
}

/** Adds rows or takes some away, but for those that are about the test. */
function shifted<Row>(rows: Row[], { at, by }: Shift, made: () => Row, isKept: (row: Row) => boolean): void {
  const place = Math.floor(at * rows.length);
  if (by > 0) rows.splice(place, 0, ...Array.from({ length: by }, made));
  else rows.splice(place, -by, ...rows.slice(place, place - by).filter(isKept));
}

/** Runs it with a relay of its own for each list. */
function forAnyShift(check: (relay: TestRelay, shifts: readonly Shift[], next: () => number) => Promise<void>) {
  const property = fc.asyncProperty(shifts, async (shifts) => {
    const relay = await startRelay();
    let count = 0;
    try {
      await check(relay, shifts, () => ++count);
    } finally {
      await relay.close();
    }
  });
  return fc.assert(property, { numRuns: 12, examples: [[Array(3).fill({ at: 0, by: 1 })]] });
}

it('a person is never found twice in a list of users that shifts between its pages', async () => {
  await forAnyShift(async (relay, shifts, next) => {
    const { users } = relay.sandbox.data;
    const stranger = () => ({ user_id: `s-${next()}`, name: 'Somebody', email: `s-${next()}@example.com` });
    users.unshift(...Array.from({ length: 98 }, stranger));
    await command(relay, 'log 1h “Release checkout 2.4”');
    const isMira = ({ name }: (typeof users)[number]) => name === 'Mira Novak';
    await workWhile(relay, '/users/list', (shift) => shifted(users, shift, stranger, isMira), shifts);
    const isComing = shifts.every(({ by }) => by >= 0);
    expect(told(relay).join()).toMatch(isComing ? /Logged 1h on / : /Logged 1h on |No user of the service/);
    for (const { user_id } of relay.sandbox.data.timelogs.slice(3)) expect(user_id).toBe(users.find(isMira)?.user_id);
  });
}, 60_000);

it('a task is never found twice in a search that shifts between its pages', async () => {
  await forAnyShift(async (relay, shifts, next) => {
    const { tasks } = relay.sandbox.data;
    const [first] = tasks as [(typeof tasks)[number]];
    const named = (name: string) => ({ ...first, task_id: `t-${next()}`, name, title: name });
    const similar = () => named(`${NAME} ${next()}`);
    tasks.push(...Array.from({ length: 99 }, similar), named(NAME), ...Array.from({ length: 50 }, similar));
    await command(relay, `log 1h “${NAME}”`);
    await workWhile(
      relay,
      '/tasks/search',
      (shift) => shifted(tasks, shift, similar, ({ name }) => name === NAME),
      shifts,
    );
    const isComing = shifts.every(({ by }) => by >= 0);
    expect(told(relay).join()).toMatch(
      isComing ? /Logged 1h on Audit of the books, today/ : /Logged 1h|There is no task/,
    );
  });
}, 60_000);

it('a project is never offered twice by a list that shifts between its pages', async () => {
  await forAnyShift(async (relay, shifts, next) => {
    const { projects } = relay.sandbox.data;
    const [first] = projects as [(typeof projects)[number]];
    const another = () => {
      const project_id = `7a2c2d7e-3b58-4c0a-9d41-${String(next()).padStart(12, '0')}`;
      return { ...first, project_id, name: `Project ${next()}` };
    };
    projects.push(...Array.from({ length: 199 }, another));
    await command(relay, 'defect');
    await workWhile(relay, '/projects/list', (shift) => shifted(projects, shift, another, () => false), shifts);
    const ids = JSON.stringify(lastView(relay).view).match(/"value":"[0-9a-f-]{36}"/g) ?? [];
    expect(ids.length).toBeGreaterThan(190);
    expect(new Set(ids).size).toBe(ids.length);
  });
}, 60_000);
