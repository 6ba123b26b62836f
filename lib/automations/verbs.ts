import { type Languages, namesIn } from '../commands/day-names.ts';
import { isWrittenAsDuration } from '../commands/duration.ts';
import { CHANGED, type CommandFault, excerpt, suggesting } from '../commands/fault.ts';
import { innerWord, withSingleBlanks } from '../commands/words.ts';
import type { JobDraft } from '../engine/record/job.ts';
import { nearMiss } from '../near-miss.ts';
import { type CustomAutomations, customOf } from '../triggers/custom-automation.ts';
import { doneVerb, undoVerb } from './complete-checklist-item/command.ts';
import { defectVerb } from './create-defect/command.ts';
import { taskVerb } from './create-task/command.ts';
import { type CustomCommand, customVerb } from './custom/custom-command.ts';
import { findVerb, LISTED, OF_TASKS } from './find/command.ts';
import { helpVerb, statusVerb } from './help/command.ts';
import { linkVerb, unlinkVerb } from './link-account/command.ts';
import { logVerb } from './log-time/command.ts';
import { THIS_WEEK, todayVerb, weekVerb } from './my-time/command.ts';
import { relateVerb } from './relate/command.ts';
import type { Verb } from './verb.ts';

/** The built-in verbs, in the order of help. Add a new one here. */
export const ourVerbs = [
  defectVerb,
  taskVerb,
  doneVerb,
  undoVerb,
  relateVerb,
  logVerb,
  todayVerb,
  weekVerb,
  findVerb,
  linkVerb,
  unlinkVerb,
  statusVerb,
  helpVerb,
] as const;

/**
 * Synonyms for the built-in verbs, in English, German, French and Spanish. A custom command with that name takes
 * precedence.
 */
const OTHER_WORDS = byWord({
  // Empty input, too.
  help: ' commands hilfe aide ayuda',
  find: 'search suche suchen cherche chercher recherche trouve trouver busca buscar',
  defect: 'bug issue fehler defekt défaut defaut bogue anomalie defecto error fallo',
  task: 'todo aufgabe tâche tache tarea',
  done: 'complete completed close closed finish finished erledigt fertig abgeschlossen terminé termine fini clore hecho terminado completar cerrar',
  undo: 'undone reopen rückgängig annuler rouvrir deshacer reabrir',
  log: 'logged track tracked book booked time spent worked buche buchen zeit enregistrer noter registrar anotar',
  relate: 'verknüpfe verknüpfen relier relacionar',
  today: "heute aujourd’hui aujourd'hui hoy",
  week: 'woche semaine semana timesheet hours missing report stunden heures horas',
  status: 'jobs estado statut état',
});

const AWAY = 'Press “Away until…” below your last reminder. If you have none, ask your administrator.';
const REMINDERS = 'To stop reminders for today, press “Mute today” below one. Your administrator sets when they come.';
const MADE = '{slash} defect <title> creates a defect, and {slash} task <title> a task.';
/** Matches `new task: Buy milk` and `add a bug Login fails`. */
const ADDED =
  /^(?:add|create|make|new|report|file|erstelle|neue[rs]?|crée[rz]?|ajoute[rz]?|nouvelle|nouveau|crear?|nuev[ao]) (?:(?:an?|new|eine?n?|neue[rsn]?|une?|nouvelle|nouveau|una?|nuev[ao]) )*(\p{L}+)(?:$|:? (?:called |named )?(.+)$)/iu;
const TIMER = 'There is no timer. Log time later: {slash} log <duration> <task>.';

/** Words for which there is a button or another way. */
const HINTS = byWord({
  [MADE]: 'add create new',
  [THIS_WEEK]: 'this my rest last letzte diese meine mes cette mis esta',
  [TIMER]: 'start stop timer clock continue resume',
  [LISTED]: 'list tasks projects',
  'Unlink defects in the service.': 'unrelate',
  'Muting is only for one day.': 'unmute',
});
/** Like `HINTS`, but matched anywhere: `stop sending me reminders`, `I'm away tomorrow`, `show me last week`. */
const TOPICS: readonly [RegExp, string][] = [
  [/(?<!\p{L})(?:mute|remind\p{L}*|erinner\p{L}*|rappels?|recordatorios?)(?!\p{L})/iu, REMINDERS],
  [
    /(?<!\p{L})(?:away|vacations?|holidays?|days? off|ooo|sick|urlaub|krank|congés?|vacances|malade|vacaciones|enferm[oa])(?!\p{L})/iu,
    AWAY,
  ],
  [
    /(?<!\p{L})(?:(?:last|previous|past|letzte|vorige) (?:week|woche)|semaine dernière|semana pasada)(?!\p{L})/iu,
    THIS_WEEK,
  ],
];

/** Matches `what can you do?` and `hi`. */
const ASKS_FOR_HELP =
  /^(?:what (?:can|do) \p{L}+ do|how (?:do|does|can) .*|(?:was kannst|hvad kan|wat kan|que peux|qué puedes) .*|hi|hello|hey|hallo|salut|hola)\W*$/iu;
/** Matches the text after a verb in `log help` and `log --help`. */
const ASKS_HOW = /^(?:(?:--)?help|-h|\?)$/i;
const CHANGING =
  '(?:delete|remove|edit|change|correct|rename|assign|move|comment|due|priority|estimate|lösche?n?|ändere?n?|korrigieren?|supprimer?|modifier?|corriger?|renommer?|borrar?|eliminar?|cambiar?|corregir)';
const CHANGE = new RegExp(`^(?:no|nein|non|wait|sorry|oops|doch|${CHANGING})(?= |,|$)`, 'i');
/** Matches anywhere, as in `letzten Eintrag löschen`. */
const CHANGES = new RegExp(`(?:^| )${CHANGING}(?= |$)`, 'i');
const POLITE = /^(?:(?:please|pls|bitte|svp|s['’]il (?:te|vous) pla[iî]t|por favor|can you|could you),? )+(?=.)/i;

/** Matches a duration, as in `I worked 2h on holiday planning`. */
const TIME_INSIDE = /\d ?(?:h|m|std|min|hours?|stunden?|heures?|horas?)(?!\p{L})/iu;
/** How many commands one answer offers at most. */
const MOST_LINES = 5;

type OurVerb = (typeof ourVerbs)[number];
type CommandOf<Some> = Some extends Verb<infer Read> ? Read : never;

/** A command in one line. Its texts are not empty and have only single spaces. */
export type Command = CommandOf<OurVerb> | CustomCommand;

/** A command that intake answers without a job. */
export type AnsweredCommand = CommandOf<Exclude<OurVerb, { job(...given: never): JobDraft }>>;

export type ParsedCommand = { command: Command } | CommandFault;

/** The verbs that people can use, built-in and custom. */
export type Verbs = ReturnType<typeof createVerbs>;

export function createVerbs(custom: CustomAutomations) {
  const list: readonly Verb<Command>[] = [...ourVerbs, ...customOf(custom, 'command').map(customVerb)];

  function of({ verb }: Pick<Command, 'verb'>): Verb<Command> {
    const found = list.find((one) => one.verb === verb);
    if (!found) throw new Error(`there is no verb ${verb}`);
    return found;
  }

  /**
   * Parses a typed command. Ignores the verb's letter case, repeated spaces, smart quotes and autocorrected dashes.
   * Titles, notes and search texts stay unchanged, except for repeated spaces and enclosing quotation marks. Empty
   * input shows help instead of a fault.
   */
  function parse(text: string, languages: Languages): ParsedCommand {
    const several = severalCommands(text, languages);
    if (several) return several;
    const typed = withoutSlashes(withSingleBlanks(text));
    const [word = ''] = typed.split(' ', 1);
    const rest = typed.slice(word.length + 1);
    // For example `bug: Login fails`, `today?` or `/done 12`.
    const name = innerWord(word).toLowerCase();
    const verb = list.find((one) => one.verb === name);
    if (verb) return readArguments(verb, rest, languages);
    if (ASKS_FOR_HELP.test(typed)) return parse('help', languages);
    if (POLITE.test(typed)) return parse(typed.replace(POLITE, ''), languages);
    const [, added = '', title = ''] = ADDED.exec(typed) ?? [];
    const made = verbFor(added);
    if (made === 'task' || made === 'defect')
      return suggesting(MADE, title === '' ? [] : suggestionsOf(parse(`${made} ${title}`, languages)));
    const other = list.find((one) => one.verb === OTHER_WORDS.get(name));
    const read = other && readArguments(other, rest, languages);
    // For example `stunden 2h 4711`.
    if (read && !('fault' in read && other !== logVerb && beginsWithDuration(rest))) return read;
    const { weekdays, relative } = namesIn(languages);
    if (CHANGE.test(typed)) return { fault: CHANGED };
    const isDay = weekdays.has(name) || relative.has(name);
    // For example `yesterday 1h 4711`.
    if (isDay && beginsWithDuration(rest)) return parse(`log ${typed}`, languages);
    const topic = TIME_INSIDE.test(typed) ? undefined : TOPICS.find(([words]) => words.test(typed))?.[1];
    const known = beginsWithDuration(rest) ? undefined : HINTS.get(name);
    const hint = topic ?? (OF_TASKS.test(typed) ? LISTED : (known ?? (isDay ? THIS_WEEK : undefined)));
    return hint === undefined ? unknownVerb(word, rest, languages) : { fault: hint };
  }

  /**
   * Detects several commands, such as `log 1h Docs` and `/pm done 12` in the next line. None is carried out on a guess.
   */
  function severalCommands(text: string, languages: Languages): ParsedCommand | undefined {
    const lines = text.split(/\n(?=\s*\/)/);
    if (lines.length === 1) return undefined;
    const read = lines.slice(0, MOST_LINES).map((line) => parse(line, languages));
    const printed = read.flatMap((one) => ('command' in one ? print(one.command) : []));
    return suggesting('Give one command at a time. A line of a text must not begin with a slash.', printed);
  }

  /** Removes leading slash commands, such as `/pm /pm` in `/pm /pm log 2h 4711`, but not `/done` in `/done 12`. */
  function withoutSlashes(typed: string): string {
    const words = typed.split(' ');
    const isOver = (word: string, at: number) =>
      !word.startsWith('/') || at === words.length - 1 || list.some(({ verb }) => verb === verbFor(innerWord(word)));
    return words.slice(words.findIndex(isOver)).join(' ');
  }

  /** Returns the built-in verb for a word, unless a custom command has that name. */
  function verbFor(word: string): string {
    const name = word.toLowerCase();
    return list.some(({ verb }) => verb === name) ? name : (OTHER_WORDS.get(name) ?? name);
  }

  const suggestionsOf = (read: ParsedCommand): readonly string[] | undefined =>
    'command' in read ? [print(read.command)] : read.suggestions;

  /** Prints a command in its shortest form. `parse` returns the same command for it. */
  const print = (command: Command): string => of(command).print(command);

  function unknownVerb(word: string, rest: string, languages: Languages): ParsedCommand {
    const text = `${word} ${rest}`;
    const [, glued, behind] = /^(\p{L}+)(\d.*)$/u.exec(word) ?? [];
    // For example `log1h Login`.
    if (glued !== undefined && list.some(({ verb }) => verb === glued.toLowerCase()))
      return parse(`${glued} ${behind} ${rest}`, languages);
    const fault = `There is no command ${excerpt(word)}.`;
    const names = [...list.map(({ verb }) => verb), ...[...OTHER_WORDS.keys()].filter((other) => other.length > 5)];
    // For example `201 fertig`.
    const [, items = '', end = ''] = /^(.*\d) (\S+)$/.exec(text.trim()) ?? [];
    const last = verbFor(innerWord(end));
    if (last === doneVerb.verb || last === undoVerb.verb)
      return suggesting('The command comes first.', suggestionsOf(parse(`${last} ${items}`, languages)));
    // For example `2h Login with passkeys`.
    const isTime = beginsWithDuration(text);
    const near = isTime ? 'log' : nearMiss(word.toLowerCase(), beginsWithDuration(rest) ? ['log'] : names);
    if (near !== undefined) {
      const name = verbFor(near);
      const meant = parse(`${name} ${isTime ? text : rest}`, languages);
      const why = 'fault' in meant ? ` ${meant.fault}` : '';
      return suggesting(`${fault} Did you mean {slash} ${name}?${why}`, suggestionsOf(meant));
    }
    const [second = ''] = rest.split(' ', 1);
    // For example `pm log 2h 4711`.
    const inside = list.some(({ verb }) => verb === second.toLowerCase()) ? parse(rest, languages) : undefined;
    if (inside && 'command' in inside)
      return suggesting(`${fault} Did you mean {slash} ${second}?`, [print(inside.command)]);
    // For example `ajoute 1h30 4711` or `I worked 2h on 4711`.
    const asLog = (typed: string) => suggestionsOf(parse(`log ${typed}`, languages));
    const logs = (beginsWithDuration(rest) ? asLog(rest) : undefined) ?? asLog(text);
    if (logs) return suggesting(`${fault} Did you mean {slash} log?`, logs);
    const asked = askedIn(text);
    if (asked) return suggesting(`${fault} Did you mean {slash} ${asked}?`, [asked]);
    return CHANGES.test(text) ? { fault: CHANGED } : { fault, isUnknown: true };
  }

  return {
    list,
    /** The verbs that work in GitHub comments, if the repository allows them. */
    inComments: list.filter(({ inComments }) => inComments).map(({ verb }) => verb),
    of,
    parse,
    print,
  };
}

/** Maps each of the words to what it means. */
function byWord(words: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(words).flatMap(([meaning, some]) => some.split(' ').map((word) => [word, meaning])));
}

const beginsWithDuration = (text: string): boolean =>
  [1, 2].some((words) => isWrittenAsDuration(text.split(' ', words).join(' ')));

/** Finds the command for a question such as `how many hours am I missing this week?` */
function askedIn(text: string): string | undefined {
  const words = text.split(' ').map((word) => innerWord(word).toLowerCase());
  const meant = words.map((word) => (word === 'yesterday' ? 'week' : (OTHER_WORDS.get(word) ?? word)));
  return ['today', 'week'].find((verb) => meant.includes(verb));
}

function readArguments(
  { verb, usage, does, examples, read }: Verb<Command>,
  rest: string,
  languages: Languages,
): ParsedCommand {
  const reading = read(rest, languages);
  if ('command' in reading) return reading;
  if (ASKS_HOW.test(rest)) return { fault: `{slash} ${usage} ${does}, for example {slash} ${examples[0]}` };
  if ('fault' in reading) return reading;
  return {
    fault: `{slash} ${verb} needs ${reading.missing}: {slash} ${usage}, for example {slash} ${examples[0]}`,
  };
}
