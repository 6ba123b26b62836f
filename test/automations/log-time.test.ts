import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RelayConfigInput } from '../../lib/config/schema.ts';
import { digest } from '../../lib/digest.ts';
import { RetryAt } from '../../lib/engine/record/interruption.ts';
import { newsOf } from '../../lib/engine/record/job.ts';
import { keys } from '../../lib/state/table/keys.ts';
import { createFirstTimeEntries } from '../../lib/timesheets/first-time-entry.ts';
import type { SandboxOptions } from '../../sandbox/sandbox.ts';
import { workWith } from '../people/changed-config.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { ask, buttonsOf, command, MIRA, PLATFORM, press, TOMASZ } from '../slack-requests.ts';

const PASSKEYS = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e03';
const CHECKOUT = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01';
const AISHA = 'U0AISHA01';

let relay: TestRelay;
/** The note of the last entry, without the relay's mark. */
const noted = () =>
  relay
    .timelogs()
    .at(-1)
    ?.note.replace(/ ?\[partner-relay .*/, '');
const question = () => ({ blocks: relay.lastMessage().blocks ?? [] });

describe('time logging', () => {
  beforeAll(async () => {
    relay = await startRelay();
    relay.clock.now = Date.parse('2026-03-28T12:00:00Z');
    relay.slack.users.set('U0NOZONE1', { id: 'U0NOZONE1', name: 'Lucas', email: 'lucas.pereira@example.com' });
  });
  beforeEach(async () => {
    // A command in the same minute would wait for its turn, and a day has no room for the entries of all these tests.
    relay.clock.now += 120_000;
    const { users } = relay.sandbox.data;
    for (const { email } of users) await relay.stores.table.delete(keys.timesheet('main', digest(email)));
  });

  // Berlin is one hour ahead of UTC, two in summer; Kolkata is five and a half hours ahead.
  it.each([
    ['2026-03-28T23:00:00Z', MIRA, '1h', '2026-03-29', 'today'],
    ['2026-03-29T22:00:00Z', MIRA, '1h yesterday', '2026-03-29', 'yesterday'],
    ['2026-10-25T22:59:59Z', MIRA, '1h', '2026-10-25', 'today'],
    ['2026-11-20T18:29:59Z', AISHA, '1h', '2026-11-20', 'today'],
    ['2026-11-20T18:30:00Z', AISHA, '1h', '2026-11-21', 'today'],
    ['2026-11-20T18:30:01Z', AISHA, '1h yesterday', '2026-11-20', 'yesterday'],
    ['2026-11-20T23:59:59Z', 'U0NOZONE1', '1h', '2026-11-20', 'today'],
    ['2026-12-31T18:30:00Z', AISHA, '1h yesterday', '2026-12-31', 'yesterday'],
    ['2027-01-01T00:00:00Z', MIRA, '1h 2026–11–18', '2026-11-18', 'on 2026-11-18'],
  ])("the entry is for the day in the person's time zone: at %s for %s, %s", async (now, userId, typed, date, said) => {
    relay.clock.now = Date.parse(now);
    const { inTheEnd } = await ask(relay, `log ${typed} ${CHECKOUT} “at ${now}”`, { userId });
    expect(inTheEnd).toBe(`:white_check_mark: Logged 1h on Release checkout 2.4 ${said}. Note: “at ${now}”.`);
    expect(relay.timelogs().at(-1)).toMatchObject({ date, hours: 1 });
  });

  const BOOKS = 'Prüfung der Bücher';
  it.each<[string, string, string?]>([
    ['its id with a number sign', `#${CHECKOUT}`],
    ['its id in capitals', CHECKOUT.toUpperCase()],
    ['its id with an invisible mark', `\u200e${CHECKOUT}`],
    ['its name in another letter case', '“release CHECKOUT 2.4”'],
    ['its name with doubled blanks', '“Release  checkout 2.4”'],
    ['its name with no-break blanks', '“Release\u00a0checkout\u202f2.4”'],
    ['its name with a zero-width space', '“Release \u200bcheckout 2.4”'],
    ['a decomposed name', `“${BOOKS.normalize('NFD')}”`, BOOKS.normalize('NFC')],
    ['a composed name', `“${BOOKS.normalize('NFC')}”`, BOOKS.normalize('NFD')],
    ['a name that has doubled blanks', '“audit of the books”', 'Audit  of\u00a0the books'],
    ['a name with another apostrophe', "“tom's books”", 'Tom’s books'],
    ['a name with another dash', '“books - audit”', 'Books – audit'],
  ])('a task is found by %s', async (_, task, name) => {
    const remove = relay.addTasks(name ? { other: name } : {});
    const { inTheEnd } = await ask(relay, `log 1h ${task}`);
    remove();
    expect(inTheEnd).toContain(`Logged 1h on ${name?.split(/\s/)[0] ?? 'Release checkout 2.4'}`);
  });

  describe('without quotation marks', () => {
    const names = [
      ...['Retro', 'Retro of Berlin', 'Login page', 'On call', 'Books 2026', 'Books 2027', 'Mon compte'],
      ...[
        'Audit of the books in spring, summer and autumn, first part',
        'Audit of the books in spring, summer and autumn, second part',
      ],
    ];
    let remove = () => {};
    beforeAll(() => {
      remove = relay.addTasks(Object.fromEntries(names.map((name, index) => [`t-${index}`, name])));
    });
    afterAll(() => remove());

    it.each([
      ['Login with passkeys', 'Login with passkeys', undefined],
      ['login With passkeys wrote tests', 'Login with passkeys', 'wrote tests'],
      ['Login with passkeys: wrote tests', 'Login with passkeys', 'wrote tests'],
      ['Login with passkeys “Retro”', 'Login with passkeys', 'Retro'],
      ['Login with passkeys “yesterday was worse”', 'Login with passkeys', 'yesterday was worse'],
      ['on Login with passkeys wrote tests', 'Login with passkeys', 'wrote tests'],
      ['sur la tâche Login with passkeys', 'Login with passkeys', undefined],
      ['On call was quiet', 'On call', 'was quiet'],
      ['Retro of Paris', 'Retro', 'of Paris'],
      ['Books 2026 checked', 'Books 2026', 'checked'],
      ['Login with passkeys – pair', 'Login with passkeys', 'pair'],
      ['Login with passkeys wed design', 'Login with passkeys', 'wed design'],
      ['Login with passkeys today', 'Login with passkeys', undefined],
      ['Mon compte: pair', 'Mon compte', 'pair'],
    ])('the words after the name are the note: %s', async (typed, name, note) => {
      expect((await ask(relay, `log 1h ${typed}`)).inTheEnd).toContain(`Logged 1h on ${name} today`);
      expect(noted()).toBe(note ?? '');
    });

    it.each([
      ['Login wrote tests', ['Login with passkeys', 'Login page'], 'wrote tests'],
      ['Login', ['Login with passkeys', 'Login page'], undefined],
      ['Login with', ['Login with passkeys'], undefined],
      ['Login with pass', ['Login with passkeys'], undefined],
      ['Login with paskeys wrote tests', ['Login with passkeys'], 'wrote tests'],
      ['Login with keys', ['Login with passkeys'], 'keys'],
      ['on Lgoin with passkeys wrote tests', ['Login with passkeys'], 'wrote tests'],
      ['Logn with paskeys', ['Login with passkeys'], undefined],
      ['Lgin wiht pasekeys – wrote tests', ['Login with passkeys'], 'wrote tests'],
      ['Retro of Berln, planned', ['Retro', 'Retro of Berlin'], 'of Berln, planned'],
      ['Retro of B', ['Retro', 'Retro of Berlin'], 'of B'],
      ['Books 2025 checked', ['Books 2026', 'Books 2027'], 'checked'],
      ['checkout, yes', ['Release checkout 2.4'], 'yes'],
      ['the checkout release', ['Release checkout 2.4'], undefined],
      ['on the release of checkout, planned it', ['Release checkout 2.4'], 'planned it'],
      ['paskeys', ['Login with passkeys'], undefined],
      ['lgoin', ['Login with passkeys'], undefined],
      ['Retro and Login with passkeys', ['Retro'], 'and Login with passkeys'],
      ['paskeys pairing', ['Login with passkeys'], 'pairing'],
      ['acessibility statement', ['Write the accessibility statement'], undefined],
      ['es checkout', ['Release checkout 2.4'], 'es checkout'],
      ['fixing paskeys', ['Login with passkeys'], 'fixing paskeys'],
      ['fixing checkout', ['Release checkout 2.4'], 'fixing checkout'],
      ['each on Login with passkeys and Retro', ['Login with passkeys'], 'each and Retro'],
      ['"Login with passkey" wrote tests', ['Login with passkeys'], 'wrote tests'],
    ])('nothing is logged on a guess, and each possible task has a button: %s', async (typed, names, note) => {
      const before = relay.timelogs().length;
      const { inTheEnd } = await ask(relay, `log 1h ${typed}`);
      // Each of the two readings has its own note.
      const own = note !== undefined && names[1] === 'Retro of Berlin';
      const one = note === undefined ? '' : ` The entry then has the note “${note}”\\.`;
      const shown = own ? " Other words than the task's name become the note\\." : one;
      expect(inTheEnd).toMatch(new RegExp(`^:warning: .* Did you mean (this|one of these)\\?${shown}$`));
      const asked = question();
      const labels = buttonsOf(asked);
      expect(labels.map((label) => label.replace(/, 20.*/, ''))).toEqual(names.map((name) => `Log 1h on ${name}`));
      expect(relay.timelogs()).toHaveLength(before);
      for (const times of [1, 2]) {
        await press(relay, asked, labels[0] ?? '');
        await relay.work();
        expect([times, relay.timelogs().length]).toEqual([times, before + 1]);
      }
      expect(noted()).toBe(note ?? '');
      expect(relay.told().join()).toContain(`Logged 1h on ${names[0]} today`);
    });

    describe('if a shorter task exists, too', () => {
      const shorter = {
        ...{ plan: 'Plan', 'plan-2': 'Plan for today', reset: 'Reset', 'reset-2': 'Reset: mail' },
        ...{ '404': 'Gone', page: '404 page', mail: 'Letters', 'mail-2': 'mail' },
        ...{ 'of-outsider': 'Login with passkeys wrote tests' },
      };
      let remove = () => {};
      beforeAll(() => {
        remove = relay.addTasks(shorter);
        relay.clock.now = Date.parse('2027-01-01T12:00:00Z');
      });
      afterAll(() => remove());

      it.each([
        ['Plan yesterday the rest', 'plan', '2026-12-31', 'the rest'],
        ['"Plan for today" the rest', 'plan-2', '2027-01-01', 'the rest'],
        ['"404 page" 2 days ago', 'page', '2026-12-30', ''],
        ['Reset: it', 'reset', '2027-01-01', 'it'],
        ['on 404: checked', '404', '2027-01-01', 'checked'],
        ['#404 page', '404', '2027-01-01', 'page'],
        ['#mail read', 'mail', '2027-01-01', 'read'],
      ])('a single matching name is enough: %s', async (typed, task_id, date, note) => {
        expect((await ask(relay, `log 1h ${typed}`)).inTheEnd).toContain('Logged 1h on');
        expect({ ...relay.timelogs().at(-1), note: noted() }).toMatchObject({ task_id, date, note });
      });

      it.each<[string, string[], string?]>([
        // An outsider can name an issue like a task and a note.
        ['Login with passkeys wrote tests', ['Login with passkeys wrote tests', 'Login with passkeys']],
        [
          'Plan for today',
          ['Plan for today', 'Plan'],
          '“Plan for today” may be a task, or the task “Plan” with a note',
        ],
        ['on Reset: mail', ['Reset: mail', 'Reset'], '“Reset: mail” may be a task, or the task “Reset” with a note'],
        ['yesterday Plan for today: the rest', ['Plan for today', 'Plan']],
        ['Reset: mail of Tom', ['Reset: mail', 'Reset']],
        ['404 page checked', ['404 page', 'Gone']],
        ['Plan for tod', ['Plan', 'Plan for today']],
        ['404 pag', ['Gone', '404 page']],
        ['Lett', ['Letters']],
        ['#lett', ['Letters']],
      ])('an uncertain task is asked about, and a button has the id of its task: %s', async (typed, names, asked) => {
        const before = relay.timelogs().length;
        const { inTheEnd } = await ask(relay, `log 1h ${typed}`);
        const labels = buttonsOf(question());
        if (asked) expect(inTheEnd).toContain(`:warning: ${asked}. Did you mean one of these?`);
        expect(relay.timelogs()).toHaveLength(before);
        expect(labels.map((label) => label.replace(/, .*/, ''))).toEqual(names.map((name) => `Log 1h on ${name}`));
        await press(relay, question(), labels.at(-1) ?? '');
        await relay.work();
        const ids = Object.entries({ ...shorter, [PASSKEYS]: 'Login with passkeys' });
        expect(relay.timelogs().at(-1)?.task_id).toBe(ids.find(([, name]) => name === names.at(-1))?.[0]);
      });
    });

    it('two readings of one task on one day differ in their notes, and each can be logged', async () => {
      await ask(relay, 'log 1h Login with passkeys today wrote tests');
      const asked = question();
      expect(buttonsOf(asked)).toEqual([
        expect.stringMatching('^Log 1h on Login with passkeys: wrote tests, 20'),
        expect.stringMatching('^Log 1h .*, with the note “'),
      ]);
      for (const [index, note] of ['wrote tests', 'today wrote tests'].entries()) {
        await press(relay, asked, buttonsOf(asked)[index] ?? '');
        await relay.work();
        expect(noted()).toBe(note);
      }
    });

    it('tasks with long names that begin alike are distinguished by their ids', async () => {
      await ask(relay, 'log 1h Audit');
      const ids = names.flatMap((name, index) => (name.startsWith('Audit') ? [`t-${index}`] : []));
      expect(buttonsOf(relay.lastMessage())).toEqual(ids.map((id) => `Log 1h on ${id}`));
    });

    it('a duration after the name is asked about', async () => {
      expect((await ask(relay, 'log 1h Login with passkeys 3h')).inTheEnd).toMatch(/“3h” is a second duration/);
      expect(buttonsOf(question())).toEqual(['Log 1h on Login with passkeys', 'Log 3h on Login with passkeys']);
    });

    it.each(['2h release checkout 2.4', '2h on release checkout 2.4', '– 2h alone', '2h: alone'])(
      'a note that begins with a duration is asked about: %s',
      async (note) => {
        const before = relay.timelogs().length;
        const { inTheEnd } = await ask(relay, `log 1h30 Login with passkeys ${note}`);
        expect(inTheEnd).toMatch(/“2h” is a second duration\. For two entries, give two commands\./);
        expect(relay.timelogs()).toHaveLength(before);
        await press(relay, question(), buttonsOf(question())[0] ?? '');
        await relay.work();
        expect(noted()).toBe(note.replace('– ', ''));
        await ask(relay, `log 1h Login with passkeys “${note}”`);
        expect(noted()).toBe(note);
      },
    );

    it('a note for another person is asked about', async () => {
      const before = relay.timelogs().length;
      const { inTheEnd } = await ask(relay, 'log 1h Login with passkeys for @tomasz');
      expect(inTheEnd).toContain('You can log time for yourself only. If this is a note, put it in quotation marks.');
      expect(relay.timelogs()).toHaveLength(before);
      await press(relay, question(), 'Log 1h today, with the note “for @tomasz”');
      await relay.work();
      expect(noted()).toBe('for @tomasz');
      await ask(relay, 'log 1h Login with passkeys reviewed for @tomasz');
      expect(noted()).toBe('reviewed for @tomasz');
    });

    it.each([
      ['login whit passkeys yesterday pairing', '2027-01-01', 'pairing'],
      ['login whit passkeys 30.12.2026: pairing', '2026-12-30', 'pairing'],
    ])('a day after a name with a typo is asked about: %s', async (typed, date, note) => {
      relay.clock.now = Date.parse('2027-01-02T11:00:00Z');
      await ask(relay, `log 1h ${typed}`);
      const label = `Log 1h on Login with passkeys, ${date}`;
      expect(buttonsOf(question())).toEqual([label, expect.stringMatching('^Log 1h today, with the note “')]);
      await press(relay, question(), label);
      await relay.work();
      expect([relay.timelogs().at(-1)?.date, noted()]).toEqual([date, note]);
    });

    it('a second duration after a name with a typo is refused', async () => {
      const { inTheEnd } = await ask(relay, 'log 1h login whit passkeys 2h Retro');
      expect(inTheEnd).toMatch(/“2h” is a second duration/);
    });

    it.each([
      ...['9-11am', 'giovedì', 'lastfriday', 'for <@U0MIRA001>', 'from 9 to 11', 'books then'],
      'could you please check',
    ])('words before the name of a task are asked about: %s', async (before) => {
      const { inTheEnd } = await ask(relay, `log 1h ${before} Login with passkeys paired`);
      expect(inTheEnd).toMatch(
        before.startsWith('for')
          ? /You can log time for yourself only/
          : /“.*” stands before the task, and is not a day/,
      );
      expect((await relay.jobs()).map(({ outcome }) => outcome)).toContainEqual(
        expect.stringMatching(`\\. Nothing was logged\\. It may mean ${PASSKEYS} \\(Login with`),
      );
      const label = `Log 1h on Login with passkeys, ${new Date(relay.clock.now).toISOString().slice(0, 10)}`;
      expect(buttonsOf(question())).toEqual([label]);
      await press(relay, question(), label);
      await relay.work();
      expect(noted()).toBe(`${before} paired`.replace(/[<>]/g, ''));
    });

    it.each(['last week', 'letzte Woche'])(
      'for a note that says only %s, the person is asked for a date',
      async (note) => {
        const { inTheEnd } = await ask(relay, `log 1h Login with passkeys ${note}`);
        expect(inTheEnd).toMatch(/looks like a day\. Before the task, write one day: .* 2026-11-18/);
        expect(buttonsOf(question())).toEqual([expect.stringMatching('^Log 1h .*, with the note “')]);
      },
    );

    it.each(['pairing yesterday', 'test 2027-01-01 on'])('a day before the name is offered: %s', async (before) => {
      relay.clock.now = Date.parse('2027-01-02T11:20:00Z');
      await ask(relay, `log 1h ${before} Login with passkeys`);
      expect(buttonsOf(question())).toEqual([
        'Log 1h on Login with passkeys, 2027-01-01',
        expect.stringMatching('^Log 1h today, with the note “'),
      ]);
    });

    it('a day between words before the name is offered, and each button shows its note', async () => {
      relay.clock.now = Date.parse('2027-01-02T11:25:00Z');
      const { inTheEnd } = await ask(relay, 'log 1h next monday Login with passkeys');
      expect(inTheEnd).toBe(
        ':warning: “monday”: did you mean Monday 28 December? The entry for that day has the note “next”.',
      );
      const kept = 'Log 1h today, with the note “next monday”';
      expect(buttonsOf(question())).toEqual(['Log 1h on Login with passkeys, 2026-12-28', kept]);
      await press(relay, question(), kept);
      await relay.work();
      expect(noted()).toBe('next monday');
    });

    it('a day before an ambiguous task is asked about with both tasks', async () => {
      relay.clock.now = Date.parse('2027-01-02T11:30:00Z');
      const { inTheEnd } = await ask(relay, 'log 1h last friday Login with passkeys');
      expect(inTheEnd).toBe(':warning: “last friday” may mean more than one day. Did you mean one of these?');
    });

    it.each(['monday', 'yesterday', 'last friday', 'tests monday', 'on 18.11.'])(
      'a note in quotation marks is no day: "%s"',
      async (note) => {
        const { inTheEnd } = await ask(relay, `log 5m Login with passkeys "${note}"`);
        expect(inTheEnd).toContain(`Logged 5m on Login with passkeys today. Note: “${note}”`);
        expect(noted()).toBe(note);
      },
    );

    it.each<[string, Record<string, string>]>([
      ['Login with passkeys yesterday: wrote tests', { '2027-01-01': 'wrote tests' }],
      ['Login with passkeys 30.12.2026 wrote tests', { '2026-12-30': 'wrote tests' }],
      ['Login with passkeys monday wrote tests', { '2026-12-28': 'wrote tests' }],
      ['Login with passkeys wrote docs on friday', { '2027-01-01': 'wrote docs' }],
      ['“Login with passkeys” last friday: read code', { '2027-01-01': 'read code', '2026-12-25': 'read code' }],
      ['Login with passkeys 30 Dec: read code', { '2026-12-30': 'read code' }],
    ])('a day after the name is asked about: %s', async (typed, readings) => {
      relay.clock.now = Date.parse('2027-01-02T12:00:00Z');
      expect((await ask(relay, `log 1h ${typed}`)).inTheEnd).toMatch(/(?:looks like a day|did you mean \w+day )/);
      const asked = question();
      const dated = Object.keys(readings).map((date) => `Log 1h on Login with passkeys, ${date}`);
      expect(buttonsOf(asked)).toEqual([...dated, expect.stringMatching('^Log 1h today, with the note “')]);
      for (const [index, [date, note]] of [
        ...Object.entries(readings),
        ['2027-01-02', typed.replace(/^.?Login with passkeys.? /, '')],
      ].entries()) {
        await press(relay, asked, buttonsOf(asked)[index] ?? '');
        await relay.work();
        expect([relay.timelogs().at(-1)?.date, noted()]).toEqual([date, note]);
      }
    });

    it.each([
      ['yesterday Login with passkeys today', 'yesterday', 'today'],
      ['2026-12-30 Login with passkeys yesterday', '2026-12-30', 'yesterday'],
      ['-2d on Login with passkeys: gestern', '-2d', 'gestern'],
    ])('a day before the task and another one after it are refused: %s', async (typed, first, second) => {
      relay.clock.now = Date.parse('2027-01-02T12:10:00Z');
      const before = relay.timelogs().length;
      const refused = `“${first}” and “${second}” are two days. Log one day at a time.`;
      expect((await ask(relay, `log 1h ${typed}`)).inTheEnd).toContain(refused);
      const remove = relay.addTasks({ short: 'Login' });
      expect((await ask(relay, `log 1h ${typed}`)).inTheEnd).toContain(refused);
      remove();
      expect(relay.timelogs()).toHaveLength(before);
      await ask(relay, `log 1h ${typed.replace(second, `"${second}"`)}`);
      expect(noted()).toBe(second);
    });

    it.each([
      'Login secret',
      'Nothing secret',
      'Login with passkeys 昨日の secret',
      'Login with passkeys 2026-02-30 secret',
    ])('the records of a question do not contain the note: %s', async (typed) => {
      await ask(relay, `log 1h ${typed}`);
      const outcomes = (await relay.jobs()).map(({ outcome, summary }) => [outcome, summary]);
      expect(JSON.stringify(outcomes)).not.toContain('secret');
      expect(relay.log.filter((line) => JSON.stringify(line).includes('secret'))).toEqual([]);
    });

    it('a question gets its buttons even if it could not be sent at first', async () => {
      relay.slack.fail({ method: 'response_url', kind: 'server-error' });
      await ask(relay, 'log 1h Login with keys');
      const remove = relay.addTasks({ late: 'Login' });
      await relay.workToTheEnd();
      remove();
      expect(buttonsOf(relay.lastMessage())).toEqual(['Log 1h on Login with passkeys']);
    });

    it('a damaged list of known tasks stops nobody, and starts again empty', async () => {
      const key = keys.knownTasks('main');
      await relay.stores.table.put({ ...key, names: [{ id: 7 }] });
      expect((await ask(relay, 'log 1h Login with passkeys')).inTheEnd).toContain('Logged 1h');
      const known = await relay.stores.table.get(key);
      expect(known?.names).toEqual([{ id: expect.any(String), name: 'Login with passkeys' }]);
    });

    it('a page of giant names fits into the journal', async () => {
      const giant = (index: number) => [`giant-${index}`, `Giant ${index} ${'é'.repeat(5_000)}`];
      const remove = relay.addTasks(Object.fromEntries(Array.from({ length: 100 }, (_, index) => giant(index))));
      const { inTheEnd } = await ask(relay, 'log 1h Giant 77');
      remove();
      expect(inTheEnd).toMatch(/^:warning: No task (has the name “Giant 77”|has exactly this name)/);
      expect(buttonsOf(relay.lastMessage())).toHaveLength(1);
    });

    // A comparison letter by letter at every length would keep the relay busy for minutes.
    it('a giant name and a giant text are compared quickly', async () => {
      const remove = relay.addTasks({ long: `Giant ${'a '.repeat(8_000)}end` });
      const { inTheEnd } = await ask(relay, `log 1h Giant ${'a '.repeat(8_000)}b`);
      remove();
      expect(inTheEnd).toMatch(/^:warning: log 1h Giant .*\nNo task has exactly this name/);
    });

    it('a name that continues in the note takes one search', async () => {
      const before = relay.sandbox.requests;
      expect((await ask(relay, 'log 1h Login with passkeys counted')).inTheEnd).toContain('Logged');
      expect(relay.sandbox.requests - before).toBe(2);
    });
  });

  it.each([
    ['at once', 0, ['first', 'second']],
    ['some pages apart', 220, ['first', 'second']],
    ['further apart than anybody reads', 1_000, ['first']],
  ])('no time is logged if two tasks have the name: %s', async (_, between, offered) => {
    const name = `Retrospective ${between}`;
    const others = Array.from({ length: between }, (_, index) => [`between-${index}`, `${name} of team ${index}`]);
    const remove = relay.addTasks({ first: name, ...Object.fromEntries(others), second: name.toUpperCase() });
    const before = relay.timelogs().length;
    const { inTheEnd } = await ask(relay, `log 1h “${name}”`);
    remove();
    expect(relay.timelogs()).toHaveLength(before);
    const [job] = (await relay.jobs()).filter(({ outcome }) => outcome?.includes(name));
    for (const id of offered) expect(job?.outcome).toContain(`${id} (`);
    expect(buttonsOf(relay.lastMessage()).length).toBeGreaterThanOrEqual(offered.length);
    expect(inTheEnd).toMatch(/^:warning: .*Did you mean (this|one of these)\?/);
  });

  it('the entry is for the day of the command, however long the job waits', async () => {
    relay.clock.now = Date.parse('2027-02-01T22:59:55Z');
    relay.sandbox.setFault({ kind: 'maintenance', times: 2 });
    await command(relay, `log 1h ${CHECKOUT} late`);
    await relay.workToTheEnd();
    expect(relay.clock.now).toBeGreaterThan(Date.parse('2027-02-01T23:00:00Z'));
    expect(relay.timelogs().at(-1)).toMatchObject({ date: '2027-02-01', note: expect.stringMatching(/^late \[/) });
  });
});

it('hours are asked about when a day exceeds 24, with the sum that the relay has logged', async () => {
  relay = await startRelay();
  await ask(relay, 'log 24h Login with passkeys');
  const { inTheEnd } = await ask(relay, 'log 23h Login with passkeys again');
  expect(inTheEnd).toBe(':warning: With this, today would have 47h: Partner Relay has logged 24h already.');
  expect(relay.timelogs()).toHaveLength(1);
  const asked = question();
  for (const _ of [1, 2]) await press(relay, asked, 'Log 23h anyway');
  await relay.work();
  expect(relay.timelogs().map(({ hours }) => hours)).toEqual([24, 23]);
  expect(relay.told()).toContain(':white_check_mark: Logged 23h on Login with passkeys today. Note: “again”.');
  expect((await ask(relay, 'log 20h yesterday Login with passkeys')).inTheEnd).toContain('yesterday.');
});

describe('the first time entry of a connection', () => {
  /** Why the first job is parked. */
  const parkedFor = async () => (await relay.jobs('parked'))[0]?.parked?.reason;

  type Fields = Readonly<Record<string, string>>;
  const start = async (
    rename: SandboxOptions['rename'] = {},
    connection: RelayConfigInput['connections'][string] = {},
  ) => {
    relay = await startRelay({ config: exampleConfig({}, { connection }), sandbox: { rename } });
  };
  beforeEach(() => start());
  const detail = (fields: Fields) => ({ '/timelogs/detail': { fields } });
  /** The connection with overrides of one or two fields, as in relay.config.ts. */
  const overridden = (fields: Fields, operation = 'timelogs/detail') => {
    const { main = expect.fail('there is no connection main') } = relay.runtime.config.connections;
    return { connections: { main: { ...main, operations: { [operation]: { fields } } } } };
  };
  let count = 0;
  const log = () => `log 1h30m ${CHECKOUT} ${++count}`;

  it('only the first entry of a connection is read back', async () => {
    await ask(relay, log());
    await ask(relay, log(), { userId: TOMASZ });
    expect(relay.timelogs()).toHaveLength(2);
    expect(relay.requestsTo('/timelogs/detail')).toBe(1);
  });

  it.each([
    ['does not carry the person', { user_id: 'worker_id' }, /user_id/],
    ['carries somebody else', { task_id: 'user_id', user_id: 'worker_id' }, /a different user_id/],
    ['carries another day', { dt_created: 'date', date: 'day' }, /a different date/],
    ['does not carry the duration', { hours: 'effort' }, /hours/],
  ] as const)('that is read back and %s parks its job with the reason', async (_, fields, differs) => {
    await start(detail(fields));
    const { inTheEnd } = await ask(relay, log().replace('1h30m ', '1h30m yesterday '));
    expect(inTheEnd).toContain('This cannot continue yet: an administrator has to look at it');
    const reason = (await relay.jobs('parked'))[0]?.parked?.reason ?? '';
    expect(reason).toMatch(/^Logging time on the connection main is stopped: its first entry/);
    expect(reason).toMatch(differs);
    expect(reason).toContain(relay.timelogs()[0]?.timelog_id);
    for (const operation of ['timelogs/create', 'timelogs/detail'])
      expect(reason).toContain(`connections.main.operations['${operation}'].fields`);
  });

  it('the first entry is correct if the service counts minutes and the override says so', async () => {
    const theirs = {
      '/timelogs/create': { fields: { hours: 'minutes' } },
      '/timelogs/detail': { fields: { hours: 'minutes' } },
    };
    const fields = { hours: { name: 'minutes', unit: 'minutes' as const } };
    await start(theirs, { operations: { 'timelogs/create': { fields }, 'timelogs/detail': { fields } } });
    // The sandbox accepts up to 24, in any unit.
    const { inTheEnd } = await ask(relay, `log 20m ${CHECKOUT}`);
    expect(inTheEnd).toContain('Logged 20m');
    expect(relay.timelogs()[0]?.hours).toBe(20);
    expect(relay.requestsTo('/timelogs/detail')).toBe(1);
  });

  it.each([
    ['nothing', '3m', 0, false],
    ['a sixtieth', '1h30m', 0.025, false],
    ['a half', '4m', 0.0333, false],
    ['four minutes less', '1h30m', 1.43, false],
    ['two decimals', '20m', 0.33, true],
    ['one decimal', '1h30m', 1.5, true],
    ['two decimals of a minute', '1m', 0.02, true],
  ])('the first entry, stored as %s, is correct or stops time logging: %s', async (_, typed, hours, isCorrect) => {
    keepOf(hours);
    for (const entry of [log().replace('1h30m', typed), log()]) {
      const { inTheEnd } = await ask(relay, entry);
      expect(inTheEnd.includes('Logged')).toBe(isCorrect);
    }
    const reasons = (await relay.jobs('parked')).map(({ parked }) => parked?.reason);
    const stopped = [/came back with a different hours/, /Logging time on/].map((why) => expect.stringMatching(why));
    expect(reasons).toEqual(isCorrect ? [] : stopped);
  });

  /** The service stores this many hours, whatever it gets. */
  function keepOf(hours: number): void {
    const { timelogs } = relay.sandbox.data;
    const push = timelogs.push.bind(timelogs);
    timelogs.push = (...entries) => push(...entries.map((entry) => ({ ...entry, hours })));
  }

  it('a first entry that cannot be read back stops time logging, because its owner is unknown', async () => {
    await start(detail({ timelog_id: 'entry' }));
    await ask(relay, log());
    expect(await parkedFor()).toContain('Logging time on the connection main is stopped');
    await ask(relay, log(), { userId: TOMASZ });
    expect(await relay.jobs('parked')).toHaveLength(2);
    expect(relay.timelogs()).toHaveLength(1);
  });

  it('a first entry that the key may not read is the last one, until a replay reads it back', async () => {
    const [key] = relay.sandbox.keys;
    const scopes = key?.scopes;
    Object.assign(key ?? {}, { scopes: ['users.read', 'tasks.read', 'timelogs.write'] });
    await ask(relay, log());
    relay.clock.now += 1_000;
    await ask(relay, log());
    expect(relay.timelogs()).toHaveLength(1);
    Object.assign(key ?? {}, { scopes });
    await relay.replay();
    expect(await relay.jobs('parked')).toEqual([]);
    expect(relay.timelogs()).toHaveLength(2);
  });

  it('the first entry is read back again after the override is corrected, and logging continues', async () => {
    const fields = { user_id: 'worker_id', hours: 'effort' };
    await start(detail(fields));
    await ask(relay, log());
    await command(relay, log());
    await workWith(relay, overridden({ user_id: 'worker_id' }));
    expect((await relay.jobs('parked')).map(({ parked }) => parked?.reason)).toContainEqual(
      expect.stringMatching(/hours/),
    );
    await command(relay, log());
    await workWith(relay, overridden(fields));
    expect(relay.told().at(-1)).toContain('Logged 1h30m');
    await command(relay, log());
    await workWith(relay, overridden(fields));
    expect(relay.timelogs()).toHaveLength(4);
    expect(relay.requestsTo('/timelogs/detail')).toBe(3);
  });

  it.each([
    ['right', {}, 2],
    ['wrong', { user_id: 'worker_id' }, 1],
  ])(
    'an entry logged before the first is read back counts as a first entry, too, and it is %s',
    async (_, fields, entries) => {
      await start(detail(fields));
      relay.sandbox.setFault({ kind: 'server-error', operation: '/timelogs/detail', times: 1 });
      await command(relay, log());
      await ask(relay, log(), { userId: TOMASZ });
      expect(relay.timelogs()).toHaveLength(1);
      expect((await relay.jobs('waiting')).map(newsOf)).toContain(
        'the first time entry on this connection is being checked',
      );
      await relay.workToTheEnd();
      expect(relay.timelogs()).toHaveLength(entries);
      expect(relay.requestsTo('/timelogs/detail')).toBe(2);
      expect(await relay.jobs('parked')).toHaveLength(entries === 1 ? 2 : 0);
    },
  );

  it('one of several simultaneous entries is the first', async () => {
    const { jobs, table } = relay.stores;
    const first = createFirstTimeEntries({ config: relay.runtime.config, table, jobs, clock: () => relay.clock.now });
    for (const userId of [MIRA, TOMASZ, AISHA]) await command(relay, log(), { userId });
    const claims = await Promise.allSettled((await relay.jobs()).map((job) => first.claim(job)));
    const [claimed, ...others] = claims.toSorted((a, b) => a.status.localeCompare(b.status));
    expect(claimed).toEqual({ status: 'fulfilled', value: true });
    expect(others).toEqual(Array(2).fill({ status: 'rejected', reason: expect.any(RetryAt) }));
  });

  it.each([
    ['right', { verified: true }, 'no reason'],
    ['wrong', { wrong: 'the hours differ' }, 'the hours differ'],
  ])('a stalled worker uses the result of another worker: the entry is %s', async (_, found, reason) => {
    const { jobs, table } = relay.stores;
    const first = createFirstTimeEntries({ config: relay.runtime.config, table, jobs, clock: () => relay.clock.now });
    await command(relay, log());
    const [job = expect.fail('there is no job')] = await relay.jobs();
    await first.claim(job);
    const [known] = await table.partition(keys.firstTimeEntry('main', '').pk);
    await table.put({ pk: '', sk: '', ...known, ...found });
    const sent = { id: 'the entry', user_id: 'mira', date: '2026-11-20', hours: 1.5 };
    const call = () => expect.fail('it is read once more');
    const verified = first.verify(job, { call }, sent).then(() => 'no reason');
    expect(await verified.catch(({ message }: Error) => message)).toBe(reason);
    expect(await table.partition(keys.firstTimeEntry('main', '').pk)).toEqual([{ ...known, ...found }]);
  });

  it('a refused first entry is reported, and the next entry is the first', async () => {
    const fields = { user_id: 'worker_id' };
    await start({ '/timelogs/create': { fields } });
    expect((await ask(relay, log())).inTheEnd).toMatch(/^:warning: log .*\nThe service refuses this time entry\./);
    await command(relay, log());
    await workWith(relay, overridden(fields, 'timelogs/create'));
    expect(relay.told().at(-1)).toContain('Logged 1h30m');
    expect(relay.requestsTo('/timelogs/detail')).toBe(1);
  });

  it('a wrong first entry of one connection does not stop another connection', async () => {
    const operations = { 'timelogs/detail': { fields: { user_id: 'worker_id' } } };
    const config = exampleConfig({}, { connection: { operations } });
    const { main } = config.connections;
    const other = { ...main, operations: {} } as NonNullable<typeof main>;
    const slack = config.slack && { ...config.slack, channels: { [PLATFORM]: { connection: 'other' } } };
    relay = await startRelay({
      config: { ...config, connections: { ...config.connections, other }, slack },
      sandbox: { rename: detail({ user_id: 'worker_id' }) },
    });
    await ask(relay, log(), { channelId: PLATFORM });
    expect(await parkedFor()).toContain('Logging time on the connection other is stopped');
    expect((await ask(relay, log())).inTheEnd).toContain('Logged 1h30m');
  });
});
