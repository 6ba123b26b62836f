import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Command, createVerbs } from '../../lib/automations/verbs.ts';
import { dayAtEnd } from '../../lib/commands/day.ts';
import { noteIn, withPlainFigures, withSingleBlanks } from '../../lib/commands/words.ts';
import none, { type CustomOf } from '../../lib/triggers/custom-automation.ts';

/** Words of the commands, and characters that break parsers. */
const pieces = [
  ...['log', 'done', 'today', 'yesterday', 'Today', 'yesterday,', 'tomorrow', '2026-11-18', '2026-02-30', '18.11.2026'],
  ...['2h', '30m', '1', '12', '4711', '4711:', 'h', 'min', '1.5', '-1h', '#12', 'and', 'WEB–12', '<!--', '/done', '?'],
  ...['"', '""', '“', '”', '„', '«', '»', "'", '’', '`', ',', '–', '—', '👩‍👩‍👧', 'é', '\ud800', '__proto__', '&amp;'],
];
const LANGUAGES = ['en', 'de'];
const of = (usage: string, example: string): CustomOf<'command'> => {
  const [name = ''] = usage.split(' ');
  return { name, kind: 'command', usage, example, does: 'is of a team', permission: undefined, inComments: false };
};
const list = [
  of('block <task> <reason…>', 'block 4711 waits for the certificate'),
  of('ship <artifact> [stage] [note…]', 'ship web prod'),
  of('rota', 'rota'),
];
const verbsOfAll = createVerbs({ ...none, list });
const verbs = verbsOfAll.list;
const parseCommand = (text: string) => verbsOfAll.parse(text, LANGUAGES);
const printCommand = (command: Command) => verbsOfAll.print(command);
const onOneLine = withSingleBlanks;
/** Any UTF-16, with unpaired surrogates. */
const codeUnits = fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units));
const anyText = fc.oneof(
  fc.array(fc.constantFrom(...pieces, ' ', ' '), { maxLength: 8 }).map((parts) => parts.join('')),
  fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map((parts) => parts.join(' ')),
  fc.string({ unit: 'grapheme' }),
  codeUnits,
);
const oneLine = anyText.map(onOneLine).filter((text) => text !== '' && withPlainFigures(text) === text);

const ids = fc.oneof(fc.nat().map(String), fc.uuid(), fc.stringMatching(/^[a-z]{1,3}[-_]\d{1,4}$/));
const dates = fc.date({ min: new Date('2000-01-01'), max: new Date('2099-12-31'), noInvalidDate: true });
const days = fc.oneof(
  fc.constantFrom('today', 'yesterday'),
  dates.map((date) => date.toISOString().slice(0, 10)),
);
const anyLog = { verb: fc.constant('log' as const), minutes: fc.integer({ min: 1, max: 1_440 }), day: days };
const optional = { requiredKeys: ['verb', 'minutes', 'day', 'task'] as ('verb' | 'minutes' | 'day' | 'task')[] };
const commands: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ verb: fc.constant('defect' as const), title: oneLine }, { requiredKeys: ['verb'] }),
  fc.record({ verb: fc.constantFrom('done', 'undo'), items: fc.uniqueArray(ids, { minLength: 1, maxLength: 20 }) }),
  fc.record({ ...anyLog, task: oneLine, note: oneLine }, optional),
  fc
    .record({
      ...anyLog,
      task: fc.oneof(fc.constantFrom('Login', 'C++', 'h', 'Überblick'), fc.nat().map(String)),
      note: oneLine.filter((note) => noteIn(note) === note && !/\d|^[hmsuo]/i.test(note)),
    })
    .filter(({ note }) => dayAtEnd(note, LANGUAGES)?.others !== '')
    .map(({ task, note, day, ...log }) => ({ ...log, day, task, note, open: { text: `${task} ${note}`, day } })),
  fc.record({ ...anyLog, task: oneLine, isId: fc.constant(true as const), note: oneLine }),
  fc.record({ verb: fc.constant('find' as const), text: oneLine }),
  fc.record({
    verb: fc.constant('relate' as const),
    defect: fc.stringMatching(/^[1-9]\d{0,9}$/),
    what: fc.constantFrom('task' as const, 'case' as const, 'step' as const),
    id: fc.stringMatching(/^[1-9]\d{0,9}$/),
  }),
  fc.record(
    { verb: fc.constant('link' as const), code: fc.stringMatching(/^\d{3}-\d{3}$/) },
    { requiredKeys: ['verb'] },
  ),
  fc.constantFrom<Command>({ verb: 'unlink' }, { verb: 'status' }, { verb: 'help' }, { verb: 'rota', values: {} }),
  fc.record({ task: oneLine, reason: oneLine }).map((values) => ({ verb: 'block', values })),
  fc
    .record({ artifact: oneLine, stage: oneLine, note: oneLine }, { requiredKeys: ['artifact'] })
    .map((values) => ({ verb: 'ship', values })),
);

const log = (minutes: number, day: string, task: string, note?: string) =>
  note === undefined ? { verb: 'log', minutes, day, task } : { verb: 'log', minutes, day, task, note };
/** A command with nothing between task and note. */
const open = (...[minutes, day, task, note]: [number, string, string, string]) => ({
  ...log(minutes, day, task, note),
  open: { text: `${task} ${note}`, day },
});
const mayBe = (text: string) => ({ open: { text, day: 'today' } });
const help = { verb: 'help' };

/** Removes words with which a task's name may continue, unless the expected command has them. */
function shortestReading(parsed: object, wanted: object): object {
  if (!('command' in parsed) || 'open' in wanted) return parsed;
  return { command: { ...(parsed.command as object), open: undefined } };
}

describe('a command', () => {
  it.each([
    ['', help],
    [' \n\u00a0', help],
    ['Status', { verb: 'status' }],
    ['defect', { verb: 'defect' }],
    ['defect ""', { verb: 'defect' }],
    ['defect Login fails on Safari', { verb: 'defect', title: 'Login fails on Safari' }],
    ['Defect  “Login fails”', { verb: 'defect', title: 'Login fails' }],
    ['defect “Save” hides “Cancel”', { verb: 'defect', title: '“Save” hides “Cancel”' }],
    ['done 13,12,13 AND #12 & 7;8', { verb: 'done', items: ['13', '12', '7', '8'] }],
    ['undo 0f3c1a52–2b7e–4c1e–9d0a–5b1f6c2d7e88', { verb: 'undo', items: ['0f3c1a52-2b7e-4c1e-9d0a-5b1f6c2d7e88'] }],
    ['Link 482–913', { verb: 'link', code: '482-913' }],
    ['link 482 913', { verb: 'link', code: '482-913' }],
    ['link 482913', { verb: 'link', code: '482-913' }],
    ['find «\u00a0checkout page\u00a0»', { verb: 'find', text: 'checkout page' }],
    ["find 'checkout page'", { verb: 'find', text: 'checkout page' }],
    ['find the "checkout" page', { verb: 'find', text: 'the "checkout" page' }],
    ['block 4711 waits for “it”', { verb: 'block', values: { task: '4711', reason: 'waits for “it”' } }],
    ['Block “Checkout page”  "waits"', { verb: 'block', values: { task: 'Checkout page', reason: 'waits' } }],
    ['ship web', { verb: 'ship', values: { artifact: 'web' } }],
    ['ship web "" now', { verb: 'ship', values: { artifact: 'web', note: 'now' } }],
  ])('the command %o is understood', (text, command) => {
    expect(parseCommand(text)).toEqual({ command });
  });

  it.each([
    ['log 2h 4711 30m was planned', open(120, 'today', '4711', '30m was planned')],
    ['log 2h yesterday 4711 wrote tests', open(120, 'yesterday', '4711', 'wrote tests')],
    ['log 2h 2024-02-29 4711', log(120, '2024-02-29', '4711')],
    ['log 2h today 4711 yesterday was worse', open(120, 'today', '4711', 'yesterday was worse')],
    ['log 2h 4711 “yesterday was worse”', log(120, 'today', '4711', 'yesterday was worse')],
    ['log 2h 4711, wrote tests', log(120, 'today', '4711', 'wrote tests')],
    ['log 2h "WEB–12"', log(120, 'today', 'WEB–12')],
    ['log 2h Login with passkeys', open(120, 'today', 'Login', 'with passkeys')],
    ['log 2h yesterday on Login with passkeys', open(120, 'yesterday', 'on', 'Login with passkeys')],
    ['log 2h Plan for yesterday', { ...log(120, 'yesterday', 'Plan'), ...mayBe('Plan for yesterday') }],
    ['log 2h today Login: reset it', { ...log(120, 'today', 'Login', 'reset it'), ...mayBe('Login: reset it') }],
    ['log 2h #books checked', { ...log(120, 'today', 'books', 'checked'), isId: true }],
    ['log 2h Login: with passkeys', log(120, 'today', 'Login', 'with passkeys')],
    ['log 2h Login “with passkeys”', log(120, 'today', 'Login', 'with passkeys')],
    ['log 2h Login yesterday with passkeys', log(120, 'yesterday', 'Login', 'with passkeys')],
    ['log 2h “Checkout page” wrote tests', log(120, 'today', 'Checkout page', 'wrote tests')],
    ['log 2h “Checkout page”yesterday', log(120, 'yesterday', 'Checkout page')],
    ['log 2h "yesterday" yesterday', log(120, 'yesterday', 'yesterday')],
    ['log 2h ‘Tom’s page’ done', log(120, 'today', 'Tom’s page', 'done')],
    ['log 2h "Seite „Kasse“" x', log(120, 'today', 'Seite „Kasse“', 'x')],
    ['log 2h "the ""new"" page" x', log(120, 'today', 'the "new" page', 'x')],
  ])('the input %o logs time', (text, command) => {
    expect(shortestReading(parseCommand(text), command)).toEqual({ command });
  });

  it.each([
    ['dnoe 12', 'done 12'],
    ['doone #12, 13', 'done 12 13'],
    ['done (101–103), 7', 'done 101 102 103 7'],
    ['defecsr Login fails', 'defect Login fails'],
    ['udno 12', 'undo 12'],
    ['fnid checkout', 'find checkout'],
    ['stauts', 'status'],
    ['stat', 'status'],
    ['hepl', 'help'],
    ['loog 1.5 4711', 'log 1h30m 4711'],
    ['status please', 'status'],
    ['blcok 4711  it waits', 'block 4711 it waits'],
    ['log 1.5 4711 x', 'log 1h30m today 4711 x'],
    ['log 60 30m', 'log 30m "60"'],
    ['log -2h 4711', 'log 2h 4711'],
    ['log Login with passkeys 2h', 'log 2h today Login with passkeys'],
    ['log yesterday Login with passkeys 1h 30m wrote tests', 'log 1h30m yesterday Login with passkeys wrote tests'],
    ['log yesterday 1h 30m 4711', 'log 1h30m yesterday 4711'],
    ['log "Checkout page" 2h', 'log 2h "Checkout page"'],
    ['1h30m yesterday 4711', 'log 1h30m yesterday 4711'],
    ['log 90 Login with passkeys', 'log 1h30m today Login with passkeys'],
    ['log 2 4711', ['log 2h 4711', 'log 2m 4711']],
    ['loog 2h 4711 gestern', 'log 2h 4711 gestern'],
  ])('the input %o may mean %o', (text, suggestion) => {
    expect(parseCommand(text)).toEqual({ fault: expect.any(String), suggestions: [suggestion].flat() });
  });

  const NO_ITEM =
    'is not the number of a checklist item. {slash} done takes numbers of checklist items, such as 12. The service shows them.';
  it.each([
    [
      'dnoe',
      'There is no command “dnoe”. Did you mean {slash} done? {slash} done needs the number of a checklist item: {slash} done <number> …, for example {slash} done 12 13',
    ],
    ['done login page', `“login” ${NO_ITEM}`],
    [`done ${'1'.repeat(65)}`, `“${'1'.repeat(65)}” ${NO_ITEM}`],
    [
      'done https://pm.example/1',
      '“https://pm.example/1” is the address of a page. {slash} done takes numbers of checklist items, such as 12.',
    ],
    ['done 1.2', `“1.2” ${NO_ITEM}`],
    [`done ${Array.from({ length: 21 }, (_, i) => i).join(' ')}`, '21 checklist items are too many: write at most 20.'],
    ['done 104 log 1h release', '“log” begins another command. Give one command at a time.'],
    ['done 103 undo 104', '“undo” begins another command. Give one command at a time.'],
    ['done 101-121', '“101-121” is a range. Write each number, 20 at most.'],
    // duration.test.ts has the table of invalid durations.
    ['log soon 4711', '“soon” is not a duration such as 1h30m, 1.5h, 90m or 1:30.'],
    [
      'log 2h :',
      '{slash} log needs a task: {slash} log <duration> [day] <task> [note], for example {slash} log 1h30m 4711 wrote tests',
    ],
    ['log 2h “Checkout page', 'The quotation mark before “Checkout page” is not closed.'],
    ['log 2h 4711 2025-02-29', '“2025-02-29” is not a date.'],
    [
      'block "" x',
      '{slash} block needs a task: {slash} block <task> <reason…>, for example {slash} block 4711 waits for the certificate',
    ],
    [
      'block 4711',
      '{slash} block needs a reason: {slash} block <task> <reason…>, for example {slash} block 4711 waits for the certificate',
    ],
    [
      'ship',
      '{slash} ship needs an artifact: {slash} ship <artifact> [stage] [note…], for example {slash} ship web prod',
    ],
    ['rota today', '{slash} rota does not take “today”, too. Put a text of several words in quotation marks.'],
    [
      `block 4711 ${'x'.repeat(8_192)}`,
      'That is too long: {slash} block takes 8192 characters at most, and letters such as ä count twice.',
    ],
    [
      'log 2h today yesterday 4711',
      '“today” and “yesterday” are two days. Log one day at a time. Put a task or note with a day in quotation marks.',
    ],
  ])('the command %o is refused', (text, fault) => {
    expect(parseCommand(text)).toEqual({ fault });
  });

  // The property below checks that each is read as the same command.
  it.each([
    [log(60, 'today', '30m'), 'log 1h "30m"'],
    [log(60, 'today', '4711', 'min order'), 'log 1h 4711 "min order"'],
    [log(60, 'today', '4711', 'yesterday'), 'log 1h 4711 "yesterday"'],
    [{ ...log(60, 'today', 'books', 'x'), isId: true }, 'log 1h #"books" "x"'],
    [{ ...log(60, 'today', 'a "b"'), isId: true }, 'log 1h #“a "b"”'],
    [log(60, 'today', 'monday', '"tuesday" Login'), 'log 1h "monday" “"tuesday" Login”'],
    [log(60, 'today', 'a', '5" --task “b”'), 'log 1h "a" "5"" --task “b”"'],
    [log(60, 'today', 'a', '5" --task'), 'log 1h "a" “5" --task”'],
    [open(60, 'today', '4711', 'min order'), 'log 1h today 4711 min order'],
    [log(60, 'yesterday', 'today'), 'log 1h yesterday "today"'],
    [log(60, 'today', '"a'), 'log 1h “"a”'],
    [{ verb: 'find', text: '“a”' }, 'find "“a”"'],
  ] as [Command, string][])('the command %o is printed as %o', (command, text) => {
    expect(printCommand(command)).toBe(text);
    expect(parseCommand(text)).toEqual({ command });
  });

  it('a printed command is parsed as the same command', () => {
    fc.assert(
      fc.property(commands, (command) => {
        expect(parseCommand(printCommand(command))).toEqual({ command });
      }),
      { numRuns: 2_000 },
    );
  });

  it('time with days, numbers and names in any order is printed as it was read', () => {
    const durations = ['1h', '60m', '120m', '1h30m', '1:30', '1h and 30m', 'an hour', 'half an hour'];
    const words = [
      ...['#"q r"', '"a b"', '“x', '"monday"', '"c" d" e', '5" f', 'g"'],
      ...'4711 30 12 #12 WEB-12 Login Login: note, on for the m h'.split(' '),
      ...'today yesterday monday gestern 18.11. 2026-11-18 last “today” by 1/2 2h'.split(' '),
    ];
    const several = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 5 });
    const typed = fc.tuple(fc.constantFrom(...durations), several);
    fc.assert(
      fc.property(typed, ([duration, words]) => {
        const read = parseCommand(`log ${duration} ${words.join(' ')}`);
        const printed = 'command' in read ? [printCommand(read.command)] : [];
        expect(printed.map(parseCommand)).toEqual(printed.map(() => read));
        const isDoubled = printed.some((text) => text.includes('""'));
        expect(isDoubled && !/[“”]/.test(words.join())).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it('spaces and the letter case of the verb do not matter', () => {
    const blanks = fc.stringMatching(/^[ \t\n\u00a0\u2009\u202f\u3000]{1,3}$/);
    fc.assert(
      fc.property(commands, fc.array(blanks, { minLength: 1 }), fc.boolean(), (command, blanks, isLoud) => {
        let used = 0;
        const blank = () => blanks[used++ % blanks.length] ?? ' ';
        const printed = printCommand(command);
        // A line that begins with a slash is another command.
        fc.pre(!printed.includes(' /'));
        const text = isLoud ? printed.replace(command.verb, command.verb.toUpperCase()) : printed;
        expect(parseCommand(`${blank()}${text.replaceAll(' ', blank)}${blank()}`)).toEqual({ command });
      }),
    );
  });

  it('the kind of quotation marks does not matter', () => {
    const marks = ['""', '“”', '„“', '””', '‟”', '‘’', '‚‘', "''", '«»', '»«', '‹›'];
    const name = oneLine
      .map((text) => onOneLine(text.replaceAll(/["'“”„‟‘’‚‛«»‹›]/g, '')))
      .filter((text) => text !== '');
    fc.assert(
      fc.property(name, fc.constantFrom(...marks), (task, marks) => {
        const command = { verb: 'log', minutes: 60, day: 'yesterday', task, note: 'wrote tests' };
        const text = `log 1h ${marks.charAt(0)}${task}${marks.charAt(1)} yesterday wrote tests`;
        expect(parseCommand(text)).toEqual({ command });
      }),
    );
  });

  it('any input gives a command, or an error with a suggestion that works', () => {
    const words = fc.constantFrom(...verbs.map(({ verb }) => verb), 'loog', 'dnoe', '');
    fc.assert(
      fc.property(words, anyText, anyText, (verb, text, more) => {
        const parsed = parseCommand(`${verb} ${text} ${more}`);
        if ('command' in parsed) {
          expect(parseCommand(printCommand(parsed.command))).toEqual(parsed);
          return;
        }
        expect(parsed.fault).not.toBe('');
        for (const suggestion of parsed.suggestions ?? []) expect(parseCommand(suggestion)).toHaveProperty('command');
      }),
      { numRuns: 2_000 },
    );
  });

  it('a very long command is parsed, and its error repeats only a little of it', () => {
    const units = 'x|9| 9|/pm |-| |"|„|“x|\' |,|#|12,|9:|.9|1h|today |é|🇩🇪|\ud800'.split('|');
    const starts =
      '|please |log |log 2h |log 2h "|log 2h 4711 |log 9|loog 1.|done |doone 1 |fnid "|block |ship "'.split('|');
    // Each unit is tried with both ends, after any of the starts.
    const typed = starts.flatMap((start, index) =>
      units.map((unit, at) => ({ start, unit, end: 'x'.repeat((index + at) % 2) })),
    );
    for (const { start, unit, end } of typed) {
      // The longest comment on GitHub. A parser with quadratic time would outlast the test.
      const parsed = parseCommand(start + unit.repeat(65_536 / unit.length) + end);
      if ('command' in parsed) continue;
      expect(parsed.fault.length).toBeLessThan(400);
      expect(parsed.fault.split(unit).length * unit.length).toBeLessThan(120);
      for (const suggestion of parsed.suggestions ?? []) expect(suggestion.length).toBeLessThanOrEqual(500);
    }
  });
});

describe('the verbs', () => {
  it('verbs have unique names', () => {
    expect(new Set(verbs.map(({ verb }) => verb)).size).toBe(verbs.length);
  });

  it.each(verbs)('the examples of $verb are valid commands', ({ verb, usage, examples }) => {
    expect(usage.split(' ')[0]).toBe(verb);
    expect(examples).not.toEqual([]);
    for (const example of examples)
      expect([example, parseCommand(example)]).toMatchObject([example, { command: { verb } }]);
  });

  it.each(verbs.filter(({ verb, usage }) => usage.includes('<') && verb !== 'undo'))(
    'the error of $verb says what is missing',
    (entry) => {
      const parsed = parseCommand(entry.verb);
      expect(parsed).toEqual({
        fault: expect.stringContaining(`{slash} ${entry.usage}, for example {slash} ${entry.examples[0]}`),
      });
    },
  );
});
