import { describe, expect, it } from 'vitest';
import { createVerbs } from '../../lib/automations/verbs.ts';
import { daysMeant } from '../../lib/commands/day.ts';
import type { LogCommand } from '../../lib/commands/log.ts';
import none from '../../lib/triggers/custom-automation.ts';

const { parse: parseCommand, print: printCommand } = createVerbs(none);

/** The languages of the days below. */
const LANGUAGES = 'en de fr es it pt nl pl sv ru ja'.split(' ');

const UUID = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01';
/** An hour and a half on 4711, unless changed. */
const logged = (change: { minutes?: number; day?: string; task?: string; note?: string; isId?: true } = {}) => ({
  command: { verb: 'log', minutes: 90, day: 'today', task: '4711', ...change },
});
/** The same with a note, and nothing between task and note. */
const open = (note: string) => logged({ note });
const on = (day: string, note?: string) => logged({ day, ...(note !== undefined && { note }) });
const DAY = / looks like a day\. Before the task, write one day: today, yesterday or a date such as 2026-11-18\./;
const DURATION =
  /is not a duration such as|has no unit|is not a whole number|is too short|is too long|has too many minutes/;

describe('numbers in full-width digits', () => {
  const wide = (text: string) => text.replace(/[!-~]/g, (one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0));

  it.each([
    'log 2h 4711|log 1h30m #4711|log 1:30 4711|log 1,5 h 4711 wrote tests|log 90 min Login with passkeys',
    'log 2h 2026-11-18 4711|log 2h 18.11. Login|log 2h 4711 -2d|log 2h Login 18.11.|log 2h 2 days ago Login',
    'log 1h 30 4711|log 2-3h 4711|log 2d 4711|log 2h Login and 3h Checkout|log 9:00-11:30 Login|log 25h Login|log 4711 2h',
    'done 12|done #12, 13|undo 12 13|done 101-103',
  ])('are read as plain ones: %s', (lines) => {
    // A fault shows the typed text.
    const read = (text: string) => JSON.stringify(parseCommand(text, LANGUAGES)).normalize('NFKC');
    for (const line of lines.split('|')) {
      const typed = [/\d/g, /\S*\d\S*/g].map((figures) => line.replace(figures, wide));
      expect(typed.map((text) => [text, read(text)])).toEqual(typed.map((text) => [text, read(line)]));
    }
  });

  it('stay unchanged in other words, and in the title of a defect', () => {
    expect(parseCommand('log 2h 4711 第２版を確認', LANGUAGES)).toMatchObject({ command: { note: '第２版を確認' } });
    expect(parseCommand('defect Page ２ fails', LANGUAGES)).toMatchObject({ command: { title: 'Page ２ fails' } });
  });
});

describe('the text that people type for a command', () => {
  it.each([
    ['today|Today|today?|heute|hoy|aujourd’hui|today ', 'today'],
    ['week|Woche|semana|semaine|hours|timesheet', 'week'],
    ['track 1h30m 4711|book 90m 4711|time 1:30 4711', 'log 1h30m 4711'],
    ['logged 1h30m 4711|buche 1,5h 4711|worked 1.5h 4711|enregistrer 1h30 4711', 'log 1h30m 4711'],
    ['close 12|finished 12|erledigt 12|terminé 12|hecho 12|/done 12|complete #12', 'done 12'],
    ['reopen 12|undone 12|annuler 12|rouvrir 12|deshacer 12', 'undo 12'],
    ['issue Login fails|bug: Login fails|Defekt Login fails|bug “Login fails”', 'defect Login fails'],
    ['log1h30m 4711|log 1h30m: 4711|log for 1h30m 4711', 'log 1h30m 4711'],
    ['log: 1h30m 4711|/pm log 1h30m 4711|please log 1h30m 4711', 'log 1h30m 4711'],
    ['todo Buy milk|Aufgabe Buy milk|tâche Buy milk', 'task Buy milk'],
    ['suche login|search login|buscar login|chercher login', 'find login'],
    ['|?|HELP|Hilfe|aide|hi|what can you do?|how does this work', 'help'],
    ['help log|Hilfe log', 'help log'],
  ])('is read as intended: %s', (typed, meant) => {
    for (const text of typed.split('|')) {
      const parsed = parseCommand(text, LANGUAGES);
      expect([text, 'command' in parsed ? printCommand(parsed.command) : parsed]).toEqual([text, meant]);
    }
  });

  it.each([
    ['1h30m 4711|90 min 4711|1.5 hours 4711|1h 30m 4711|lgo 1h30m 4711|log 4711 1h30m', 'log 1h30m 4711'],
    ['2h Login with passkeys|2 hours Login with passkeys', 'log 2h today Login with passkeys'],
    ['todya|cuántas horas faltan hoy?', 'today'],
    ['wek|weeks|semanna|how many hours am I missing this week?', 'week'],
    ['pm log 1h30m 4711', 'log 1h30m 4711'],
    ['report a bug: Login fails', 'defect Login fails'],
    ['standup 1h30m', 'log 1h30m "standup"'],
    ['yesterday 1h30m 4711|ayer 1h30m 4711', 'log 1h30m yesterday 4711'],
    ['stunden 90m 4711', 'log 1h30m 4711'],
    ['ajoute 1h30 4711|add 1.5h 4711|1,5 std 4711', 'log 1h30m 4711'],
    ['finsh 12|erledgit 12|12 fertig|#12 done.', 'done 12'],
    ['log today 1h Login with passkeys', 'log 1h today Login with passkeys'],
    ['log Login page 2h last friday', 'log 2h Login page last friday'],
    ['new task: Buy milk|add a todo Buy milk', 'task Buy milk'],
    ['nouvelle tâche Buy milk|please create a task called Buy milk', 'task Buy milk'],
    ['create a defect prices are wrong|neuer Fehler: prices are wrong', 'defect prices are wrong'],
    ['defct prices are wrong', 'defect prices are wrong'],
    ['logg 1h30m 4711', 'log 1h30m 4711'],
    ['log 18.11. 2h Login page', 'log 2h 18.11. Login page'],
    ['log 9:00-11:30 4711|log von 9 bis 11:30 4711|log de 9h à 11h30 4711', 'log 2h30m 4711'],
    ['log 10am-12:30pm 4711|log 9-11:30 4711|log 4711 14:00-16:30', 'log 2h30m 4711'],
  ])('is asked about, with the likely command: %s', (typed, meant) => {
    for (const text of typed.split('|')) {
      const fault = { fault: expect.any(String), suggestions: [meant] };
      expect([text, parseCommand(text, LANGUAGES)]).toEqual([text, fault]);
    }
  });

  it.each([
    ['log 1h Docs\n/pm done 12', ['log 1h "Docs"', 'done 12']],
    ['log 1h Docs\n\u00a0/done 12', ['log 1h "Docs"', 'done 12']],
    ['task Buy milk\n/pm log 4711', ['task Buy milk']],
  ])('with commands on two lines is answered with one command at a time: %j', (typed, suggestions) => {
    const fault = { fault: expect.stringMatching(/^Give one command at a time\./), suggestions };
    expect(parseCommand(typed, LANGUAGES)).toEqual(fault);
  });

  it.each([
    ...['undo', 'annuler la dernière saisie', 'doch nur 1h', 'no wait, it was 3h', 'letzten Eintrag löschen'],
    ...['delete my last entry', 'log undo', 'supprimer 2h Login', 'rename Login to Logout', 'due friday Login'],
  ])('for a change that only the service can make is answered with that: %s', (typed) => {
    expect(parseCommand(typed, LANGUAGES)).toEqual({
      fault: expect.stringContaining('cannot change or delete time, tasks or defects'),
    });
  });

  it.each(['Login page 2h last friday', '18.11. 2h Login', '4711 2h'])(
    'with the duration first is understood: %s',
    (typed) => {
      expect(parseCommand(`log ${typed}`, LANGUAGES)).toMatchObject({ fault: 'The duration comes first.' });
    },
  );

  it.each([
    ['away|vacation until Friday|holiday|Urlaub', /Press “Away until…” below your last reminder/],
    ['I’m away tomorrow|congé lundi|day off on Monday', /Press “Away until…” below your last reminder/],
    ['mute|mute today|stop sending me reminders', /^To stop reminders for today, press “Mute today” below one\. /],
    ['unmute', /^Muting is only for one day\.$/],
    ['unrelate 12 task 7', /^Unlink defects in the service\.$/],
    ['relate 12 story 7', /^A defect can be linked to a task, a case or a step, not to “story”\.$/],
    ['relate 12 task Login with passkeys', /“Login with passkeys” is not the id of a task\. {slash} find <part/],
    ['show me last week', /For earlier weeks, open the service\.$/],
    [
      'create bug Login fails|new task Buy milk|add|add Write the text',
      /^{slash} defect <title> creates a defect, and {slash} task <title> a task\.$/,
    ],
    [
      'add task "Release notes" to Web Shop|add a bug',
      /^{slash} defect <title> creates a defect, and {slash} task <title> a task\.$/,
    ],
    ['yesterday|this week|esta semana|my week', /^{slash} week shows this week/],
    ['rest|monday|Friday|Sonntag|lundi|gestern', /^{slash} week shows this week/],
    ['list tasks|tasks|projects|find my tasks', /cannot list your tasks: open them in the service/],
    ['delete my last entry|edit 4711|remove', /Do that in the service\.$/],
    ['thanks|version|whoami|what did I log', /^There is no command “\w+”\.$/],
    ['link voucher to release checkout 2.4', /^{slash} relate links a defect/],
    ['done 12 2h', /“2h” is a duration/],
    ['log rest|log time', /log needs a duration: /],
    ['log @aisha 2h 4711|log <@U0AISHA01> 2h 4711|log 2h @aisha Login', /^You can log time for yourself only/],
    [
      'log 2h #4711 for @aisha|log 2h “Login” für @aisha',
      /yourself only\. If this is a note, put it in quotation marks/,
    ],
    ['report this month', /For earlier weeks, open the service/],
    ['remind me at 17:00', /Your administrator sets when/],
    ['today 4711|today yesterday|week last', /Write only “{slash} \w+”\. {slash} week shows this week/],
    ['log 8h|2h', /log needs a task: /],
  ])('is answered with help, and nothing is done: %s', (typed, said) => {
    for (const text of typed.split('|')) {
      const parsed = parseCommand(text, LANGUAGES);
      expect([text, parsed]).toEqual([text, expect.objectContaining({ fault: expect.stringMatching(said) })]);
    }
  });
});

describe('time as people type it, or paste it from documents and chats', () => {
  /** Typed text after `log`; | separates texts with the same meaning. */
  const notes = [
    ...['wrote tests today', 'vor der Tagung', 'hace buen día', 'sat with Tom', 'mon compte', 'on the train'],
    ...['the 2nd draft', 'the day shift', 'part 1/2', 'last time fix', 'may fix it', 'released 2.4', '3 tests'],
    ...['per il cliente', 'reduced it from 5h to 3h'],
  ];
  it("a link of Slack with a label is the task's address", () => {
    const link = `<https://pm.example.com/tasks/${UUID}|Login with passkeys>`;
    expect(parseCommand(`log 1h ${link} paired`, LANGUAGES)).toMatchObject({ command: { task: UUID, note: 'paired' } });
  });

  it.each([
    // Durations. duration.test.ts has most of them.
    ['1 h 30 min 4711|1:30 h 4711|\u200e1h30m 4711|1h\u200b30m 4711|time 1h30m 4711', logged()],
    ['90 Minuten 4711|1,5 Std. 4711|1 Stunde 30 Minuten 4711|1 heure 30 minutes 4711', logged()],
    ['1 hora 30 minutos 4711|1 uur 30 minuten 4711|1 ora 30 minuti 4711', logged()],
    ['1½h 4711|1 1/2 h 4711|1 ½ h 4711|1 1/2 hours 4711', logged()],
    ['½h 4711|1/2 h 4711', logged({ minutes: 30 })],
    ['2²h 4711|90 4711', DURATION],
    ['~2h 4711', /“~2h” is not exact\. Did you mean 2h/],
    ['2 1/2 m 4711', /has a fraction of a minute/],
    ['1h 30 4711|1h 30 Login with passkeys', /can mean 1h30m, or 1h on the task 30/],
    ['1 heure 15 Login', /can mean 1h15m, or 1 heure on the task 15/],
    ['2h 15 “Checkout page”', /can mean 2h15m, or 2h on the task 15/],
    ...[
      ['mon', '1h30m mon Login with passkeys'],
      ['on the 24th', '1h30m on the 24th Login with passkeys'],
      ['24th', '1h30m 4711 24th'],
      ['Thursday 26.11.', '1h30m Thursday 26.11. Login'],
      ['gesten', '1h30m gesten Login'],
    ].map(([words, typed = '']): [string, object] => [
      typed,
      { command: expect.objectContaining({ unclear: expect.objectContaining({ words }) }) },
    ]),
    ['1 day Login with passkeys|1d 4711', /Write hours, such as 8h, not days/],
    ['einen halben Tag 4711|medio día 4711', /Write hours, such as 8h, not days/],
    // Days, before the task and after it.
    ['1h30m yesterday 4711|1h30m YESTERDAY 4711|1h30m (yesterday) 4711|1h30m on yesterday 4711', on('yesterday')],
    ['1h30m 4711 yesterday.|1h30m 4711 (yesterday)|1h30m 4711 *yesterday*|1h30m 4711 yesterday…', on('yesterday')],
    ['1h30m 4711 - yesterday|1h30m 4711 \u200eyesterday|1h30m 4711 \u2068yesterday\u2069', on('yesterday')],
    ['1h30m \ufeffyesterday 4711', on('yesterday')],
    ['1h30m 4711 [yesterday] wrote tests|1h30m 4711 for yesterday: wrote tests', on('yesterday', 'wrote tests')],
    ['1h30m Mittwoch, 18.11.2026 4711|1h30m 18.11.2026 (Wed) 4711|1h30m Wed 2026-11-18 4711', on('2026-11-18')],
    ['1h30m on 2026-11-18 4711|1h30m 4711 on 2026-11-18|1h30m 4711 am 2026-11-18', on('2026-11-18')],
    ['1h30m 4711 \u200e2026-11-18|1h30m 4711 2026–11–18.', on('2026-11-18')],
    ['1h30m 4711 (on 2026-11-18) wrote tests|1h30m 4711 2026‑11‑18, wrote tests', on('2026-11-18', 'wrote tests')],
    ['1h30m vor vier Tagen 4711|1h30m il y a quatre jours 4711|1h30m 4711 four days ago', on('-4d')],
    ['1h30m 4711 today!|1h30m heute morgen 4711|1h30m ce matin 4711|1h30m esta mañana 4711', on('today')],
    ['bitte 1h30m hace dos días 4711|1h30m vor zwei Tagen 4711|1h30m il y a 2 jours 4711', on('-2d')],
    ['1h30m gestern Abend 4711|1h30m yday 4711', on('yesterday')],
    ['une heure et demie 4711|hora y media 4711|1 heure et demie 4711|one and a half hours 4711', logged()],
    ['deux heures et quart 4711', logged({ minutes: 135 })],
    ['1h30m mañana 4711|1h30m übermorgen 4711', /You cannot log time in the future/],
    // Several days or durations, or none.
    ['1h30m 4711 yesterday and today', /“yesterday and today” is more than one day/],
    ['1h30m 4711 doch nur 30min|1h30m 4711 wrote docs, sorry, 20m', /“(?:30min|20m)” is a second duration/],
    ['1h30m every day 4711|1h30m jeden Tag 4711', /is more than one day/],
    ['2-3h 4711|2 to 3 hours 4711', /is more than one duration\. Log one of them/],
    ['1h30m mon and tue 4711|1h30m each mon 4711', /is more than one day/],
    ['1h30m Mo-Mi 4711', /“Mo-Mi” is more than one day/],
    ['1h30m 23.-25.11. 4711', /“23.-25.11.” is more than one day/],
    ['1h30m gestern und vorgestern 4711', /“gestern und vorgestern” is more than one day/],
    ['1h30m 4711 el lunes y el martes', /“el lunes y el martes” is more than one day/],
    ['1h30m 4711 Tests el lunes y el martes', /“el lunes y el martes” is more than one day/],
    ['1h30m 2026-11-18 to 2026-11-20 4711', /“2026-11-18 to 2026-11-20” is more than one day/],
    ['1h30m 4711 today or yesterday', /“today or yesterday” is more than one day/],
    ['1h30m 4711 a few days ago|1h30m vor einigen Tagen 4711', /looks like a day/],
    ['2h Ops and half an hour Checkout|2h Ops, no, half an hour', /“half an hour” is a second duration/],
    ['--time 2h --task "Add --json flag"', /There are no options such as --time/],
    ['2h 4711 --date=2026-11-18', /There are no options such as --date/],
    ['1h30m yesterday 4711 today|1h30m yesterday "Login" today', /“yesterday” and “today” are two days/],
    ['1h30m today 4711 -2d|1h30m today "Login" -2d', /“today” and “-2d” are two days/],
    ['1h30m monday 4711 tuesday|1h30m monday tuesday 4711', /“monday” and “tuesday” are two days/],
    ['1h30m tuesday, monday Login|1h30m Login tuesday, monday', /“tuesday” and “monday” are two days/],
    ['1h30m Login tests monday tuesday|1h30m Login monday tuesday', /“monday” and “tuesday” are two days/],
    ['1h30m today 4711 yesterday|1h30m today, yesterday Login', /“today” and “yesterday” are two days/],
    ['1h30m yesterday 4711 monday', /“yesterday” and “monday” are two days/],
    ['1h30m gestern "Login" vorgestern', /“gestern” and “vorgestern” are two days/],
    ['1h30m 4711 yesterday & Monday', /“yesterday & Monday” is more than one day/],
    ['2h yesterday and 3h today on Login', /“3h” is a second duration\. For two entries, give two commands/],
    ['2h Login yesterday and 3h today|2h on Login and 3h on Checkout', /“3h” is a second duration/],
    ['2h yesterday 3h today Login', /“3h” is a second duration/],
    ['2h yesterday, 3h 15m today on Login', /“3h 15m” is a second duration/],
    ['1h login; log 2h Checkout|1h login log 2h Checkout', /“2h” is a second duration/],
    ['1h #4711 2h Checkout|1h “Login” - 2h on Checkout|1h #4711 yesterday 2h', /“2h” is a second duration/],
    ['1h30m 31.11. Login|1h30m Login 31.11.|1h30m on 31.11. Login', /^“(?:on )?31\.11\.” is not a date\./],
    ['1h30m 31/11 Login|1h30m Feb 30 Login', /^“(?:31\/11|Feb 30)” is not a date\./],
    ['1h30m 4711 2026-11-31|1h30m Login with passkeys 31.11.2026', /“2026-11-31” is not a date\./],
    ['1h30m 31.11.2026 Login with passkeys', /“2026-11-31” is not a date\./],
    ['1h30m Login with passkeys 2026-02-30', /“2026-02-30” is not a date\./],
    ['1h30m 4711 tomorrow|1h30m Login with passkeys tomorrow', /You cannot log time in the future/],
    ['1h30m morgen Login with passkeys|1h30m “Checkout page” tests on tomorrow', /You cannot log time in the future/],
    // Notes that contain days and durations.
    ...notes.map((note) => [`1h30m 4711 ${note}`, open(note)]),
    ['1h30m 4711 - wrote tests', open('wrote tests')],
    ['1h30m 4711 – pair|1h30m 4711 : “pair”|1h30m 4711: - pair', logged({ note: 'pair' })],
    ['1h30m 4711 -5% faster', open('-5% faster')],
    ['1h30m 4711 “1h alone, 30m with Tom”', logged({ note: '1h alone, 30m with Tom' })],
    ['1h30m 4711 - “2h alone”|1h30m 4711 “2h alone”', logged({ note: '2h alone' })],
    ['1h30m 4711: wed design', logged({ note: 'wed design' })],
    ['1h30m 4711 “monday: wrote tests”', logged({ note: 'monday: wrote tests' })],
    ['1h30m today 4711 monday’s bug', open('monday’s bug')],
    ['1h30m yesterday 4711 “today”|1h30m yesterday “4711” "today"', on('yesterday', 'today')],
    ['1h30m yesterday 4711 Plan for monday', on('yesterday', 'Plan for monday')],
    ['1h30m yesterday 4711 fri pan', on('yesterday', 'fri pan')],
    ['1h30m 4711 yesterday and wrote tests', on('yesterday', 'and wrote tests')],
    ['1h30m 4711 yesterday, monday was worse', on('yesterday', 'monday was worse')],
    // Tasks and their ids.
    ['1h30m # 4711|1h30m (#4711)|1h30m 4711.|1h30m task 4711|1h30m on 4711|1h30m für 4711', logged()],
    ['1h30m 47\u200b11|1h30m \u200f4711\u200f', logged()],
    ['1h30m #4711', logged({ isId: true })],
    ['1h30m *4711* wrote tests|1h30m `4711`: wrote tests', logged({ note: 'wrote tests' })],
    ['1h30m on task #4711 yesterday', logged({ day: 'yesterday', isId: true })],
    [`1h30m ${UUID.toUpperCase()}|1h30m {${UUID.toUpperCase()}}`, logged({ task: UUID })],
    [`1h30m ${UUID.replaceAll('-', '‑')}`, logged({ task: UUID })],
    ['1h30m to “Checkout page”|1h30m “Checkout\u00a0 page”', logged({ task: 'Checkout page' })],
    ['1h30m WEB‑12', logged({ task: 'WEB-12' })],
    ['1h30m C++', logged({ task: 'C++' })],
    ['1h30m #general', logged({ task: 'general', isId: true })],
    ['1h30m "Monday meeting" wrote minutes', logged({ task: 'Monday meeting', note: 'wrote minutes' })],
    ['1h30m "30" 4711', logged({ task: '30', note: '4711' })],
  ] as [string, object | RegExp][])('log accepts time as people type it: %s', (typed, becomes) => {
    for (const text of typed.split('|')) {
      const parsed = parseCommand(`log ${text}`, LANGUAGES);
      const found = 'command' in parsed ? { command: { ...parsed.command, open: undefined } } : parsed;
      const wanted =
        becomes instanceof RegExp ? { fault: expect.stringMatching(becomes), ...suggested(parsed) } : becomes;
      expect([text, found]).toEqual([text, wanted]);
    }
  });

  it.each([
    ['today', 'heute|hoy'],
    [
      'yesterday',
      'gestern|ayer|ieri|ontem|gisteren|wczoraj|вчера|昨日|i går|-1d|–1d|vor einem Tag|(gestern)|1 day ago',
    ],
    ['-2d', 'vorgestern|l’altro ieri|the day before yesterday|-2d|2d ago|2 days ago|vor 2 Tagen|on vorgestern'],
    [
      '2026-11-18',
      '18.11.2026|18.11.26|on 18.11.2026|11/18/2026|2026/11/18|20261118|2026-11-18T10:00|18 November 2026',
    ],
    ['2026-11-18', '18th of November 2026|November 18, 2026|2026-11-18|vom 18.11.26'],
    ['2026-12-12', '12/12/2026|12.12.2026'],
  ])('log reads %s, which has only one meaning: %s', (day, words) => {
    for (const typed of words.split('|').flatMap((one) => [`${one} 4711`, `4711 ${one}`])) {
      const parsed = parseCommand(`log 1h30m ${typed}`, LANGUAGES);
      const command = 'command' in parsed ? { ...parsed.command, open: undefined } : parsed;
      expect([typed, command]).toEqual([typed, on(day).command]);
    }
  });

  // Typed on a Tuesday.
  it.each([
    ['2026-11-23', 'monday|Monday:|on monday|mon|Montag|am Montag|Mo.|lundi|lunes|måndag|понедельник'],
    ['2026-11-20', 'friday|last friday|letzten Freitag|Fr.'],
    ['2026-11-23 2026-11-16', 'last Monday|letzten Montag'],
    ['2026-11-24 2026-11-17', 'tuesday|Dienstag'],
    ['2026-11-17', 'last Tuesday'],
    ['2026-11-18', '18.11.|18.11|18/11|11-18|on 18.11.|vom 18.11.|le 18/11|18 Nov|Nov 18|November 18th|18. November'],
    ['2026-11-18', '18th of November|18 de noviembre|Wednesday'],
    ['2025-12-11 2026-11-12', '11/12'],
    ['2026-11-12', '11/12/2026'],
    ['2025-12-12', '12.12.'],
    ['today yesterday', '3h ago|vor 3 Stunden|2 hours ago'],
    ['-7d', 'a week ago|vor einer Woche'],
    ['yesterday', 'yesteday|hier'],
    ['', '29.2.'],
  ])('log asks about %s, which may have this meaning: %s', (days, words) => {
    for (const typed of words.split('|').flatMap((one) => [`${one} 4711`, `4711 ${one}`])) {
      const parsed = parseCommand(`log 1h30m ${typed}`, LANGUAGES);
      const { unclear } = 'command' in parsed && parsed.command.verb === 'log' ? (parsed.command as LogCommand) : {};
      expect([typed, daysMeant(unclear?.words ?? 'none', LANGUAGES, '2026-11-24')]).toEqual([
        typed,
        days.split(' ').filter(Boolean),
      ]);
      if ('command' in parsed) expect(parseCommand(printCommand(parsed.command), LANGUAGES)).toEqual(parsed);
    }
  });

  it.each([
    [
      'wrote tests',
      'yesterday|yesterday.|on Monday.|gestern|18.11.|2026-11-18|on 18.11.2026|last friday|3h ago|l’altro ieri',
    ],
    ['Tests', 'Vom 18.11.26|18. November 2026|the day before yesterday|vor 2 Tagen'],
  ])('a note with a day at its end is asked about: %s %s', (note, words) => {
    for (const at of words.split('|'))
      expect(parseCommand(`log 1h30m “Login page” ${note} ${at}`, LANGUAGES)).toMatchObject({
        command: { task: 'Login page', note, unclear: { at: 'end', words: at } },
      });
  });

  it.each([
    ...['last night', 'last week', 'the other day', '26-11-18', '-99d'].map((day) => [day, `4711 "${day}"`]),
    ...['yesterday’s bug', 'Monday’s meeting'].map((day) => [day, undefined]),
  ])('%s is no day, and may be the note', (day, kept) => {
    const why = day === '-99d' ? /^“-99d” is more than 60 days ago\. Write its date\./ : DAY;
    const parsed = parseCommand(`log 1h30m 4711 ${day}`, LANGUAGES);
    expect(parsed).toMatchObject({ fault: expect.stringMatching(why) });
    const suggestions = 'fault' in parsed ? parsed.suggestions : [];
    expect(suggestions).toEqual(kept === undefined ? undefined : [`log 1h30m ${kept}`]);
    expect(parseCommand(`log 1h30m ${day} 4711`, LANGUAGES)).toMatchObject({ fault: expect.stringMatching(why) });
  });

  it.each([
    ['"monday" tuesday Login', { task: 'monday', note: 'Login' }],
    ['tuesday "monday" Login', { task: 'monday', note: 'Login' }],
    ['tuesday "monday"', { task: 'monday' }],
    ['Login tuesday "monday"', { task: 'Login', note: 'monday' }],
    ['tuesday "2026-11-17" Login', { task: '2026-11-17', note: 'Login' }],
  ])('a day in quotation marks is a task or a note, and no second day: %s', (typed, read) => {
    const unclear = { words: 'tuesday' };
    expect(parseCommand(`log 1h ${typed}`, LANGUAGES)).toMatchObject({ command: { ...read, day: 'today', unclear } });
  });

  it.each([
    ['1h30m 4711 lunedì', []],
    ['1h30m 4711 Tests lunedì', ['en', 'fr']],
    ['1h30m 4711 昨日', ['de']],
  ])('log reads %s as a note for a team that writes in %o', (typed, languages) => {
    expect(parseCommand(`log ${typed}`, languages)).toMatchObject({ command: { day: 'today', note: typed.slice(11) } });
    for (const words of ['monday', 'Montag', 'lundi', 'lunes', 'mandag', 'maandag'])
      expect(parseCommand(`log 1h 4711 ${words}`, languages)).toMatchObject({ command: { unclear: { words } } });
  });

  it.each([
    ['1h30m gestern 4711|1h30m Gestern 4711|1h30m 4711 ayer', on('yesterday')],
    ['1h30m vorgestern 4711|1h30m 4711 avant-hier', on('-2d')],
    ['1h30m heute 4711|1h30m 4711 aujourd’hui', on('today')],
    ['gestern 1h30m 4711', { fault: expect.any(String), suggestions: ['log 1h30m yesterday 4711'] }],
  ])("log accepts today and yesterday in other languages than the team's: %s", (typed, becomes) => {
    for (const text of typed.split('|')) {
      const parsed = parseCommand(`log ${text}`, ['en']);
      expect('command' in parsed ? { command: { ...parsed.command, open: undefined } } : parsed).toEqual(becomes);
    }
  });

  it.each([
    ['#12', ['12']],
    ['(12), 13.', ['12', '13']],
    ['\u200e12 \u200b13', ['12', '13']],
    ['*12* & `13`', ['12', '13']],
    [UUID.toUpperCase(), [UUID]],
  ])('done accepts items as people type them: %s', (typed, items) => {
    expect(parseCommand(`done ${typed}`, LANGUAGES)).toEqual({ command: { verb: 'done', items } });
  });

  /** The relay also asks about a suggestion, and does nothing before the person accepts it. */
  function suggested(parsed: object): object {
    return 'suggestions' in parsed ? { suggestions: expect.any(Array) } : {};
  }
});
