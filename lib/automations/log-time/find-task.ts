import type { Day } from '../../commands/day.ts';
import { BEFORE_TASK, ONLY_YOURSELF } from '../../commands/log.ts';
import { comparableName, UUID } from '../../commands/words.ts';
import type { FindTool } from '../../config/mcp.ts';
import { callOf } from '../../config/template.ts';
import { isListing, readRows } from '../../config/tool-answer.ts';
import { isRefusedInput } from '../../engine/record/interruption.ts';
import type { AsPerson } from '../../engine/run/acting.ts';
import type { JobSteps } from '../../engine/run/job-steps.ts';
import { searchTasks, taskName } from '../../service/partner/operations/tasks.ts';
import { cutToLength } from '../../text.ts';
import { type Task, taskById } from '../../timesheets/task-names.ts';
import type { TimeToLog } from './command.ts';
import { type Fit, fitOf, NAME_WORDS, type TypedWords, typedWords } from './task-fit.ts';

/** The text that a person typed after the duration. */
export type TypedTime = Pick<TimeToLog, 'task' | 'isId' | 'day' | 'note' | 'open'>;

/** Finds tasks. Each lookup is a step of the job. */
export interface TaskSource {
  /** Returns the task with this id; null if the text does not look like an id. */
  byId(text: string): Promise<Task | null>;
  search(step: string, text: string): Promise<{ found: Task[]; whole: boolean }>;
  /**
   * Looks up a text as an id after no search has found it.
   * @param isWhole true if the text is all that was typed for the task
   * @param isWord true if the text is one word, or marked as an id
   */
  byOddId(text: string, isWhole: boolean, isWord: boolean): Promise<Task | null>;
  /** True if nothing searches for names. */
  isBlind?: boolean;
  /** Tasks that earlier jobs have seen. A search does not find names with a typo in the first letters. */
  known?(): Promise<readonly Task[]>;
}

/** A task, and the meaning of the other words. */
export interface ReadTask {
  task: Task;
  day: Day;
  note: string | undefined;
  /** True if the name has several words and the text after it may still begin with a day or quotation marks. */
  isNoteUnread: boolean;
  /** The words before the task. They begin the note. */
  before?: string;
}

/** Why it is unclear which task is meant, and the possible tasks. */
export interface UnclearTask {
  /** For the records, so it never contains the note. */
  fault: string;
  /** For the person, so it quotes what they typed. */
  said: string;
  offered: readonly ReadTask[];
}

export const WHAT_WORKS = 'Write its id, or its whole name as the service shows it';

export const didYouMean = (offered: readonly unknown[]): string =>
  offered.length === 1 ? 'Did you mean this?' : 'Did you mean one of these?';

const MOST_FOUND = 100;
const PAGES = 10;
export const MOST_OFFERED = 5;
export const SHOWN_LENGTH = 250;
/** The stored length of a task's name. A page of tasks is stored in one journal item, which holds 400 KB. */
const KEPT_LENGTH = 500;
const kept = ({ id, name }: Task): Task => ({ id, name: cutToLength(name, KEPT_LENGTH, '…') });

/** Reads the stored part of a listed task; undefined if the record lacks the assumed fields. */
function keptTask(row: Parameters<typeof taskName>[0]): Task | undefined {
  const named = taskName(row);
  return named && kept(named);
}

/** The tasks that the connection's key can see. */
export function tasksOfKey(steps: JobSteps, known?: () => Promise<readonly Task[]>): TaskSource {
  return {
    ...(known && { known }),
    byId: async (text) => (/\d/.test(text) ? taskById('find the task', text, steps) : null),
    async search(step, q) {
      const { kept: found, whole } = await steps.list(step, searchTasks, { q }, keptTask, ({ id }) => id, PAGES);
      return { found, whole };
    },
    byOddId: async (text, _, isWord) => (!isWord || /\d/.test(text) ? null : taskById('find the task', text, steps)),
  };
}

/** A number, a UUID or a key such as WEB-42 needs no search. */
export const TASK_ID = /^(\d+|[0-9a-f]{8}-[0-9a-f-]{27}|[a-z]{1,10}-\d+)$/i;

/**
 * The tasks that a person can see, found by the tool of `find`. If the tool finds nothing, or lists no rows, the typed
 * text counts as the id. The tool of `log` may read a name as an id, so it never gets only the first word of a name.
 */
export function tasksOfTool(tools: AsPerson, use: FindTool | undefined): TaskSource {
  const asTyped = async (text: string): Promise<Task> => ({ id: text, name: text });
  const ids: Omit<TaskSource, 'search'> = {
    byId: async (text) => (TASK_ID.test(text) ? asTyped(text) : null),
    byOddId: async (text, isWhole) => (isWhole ? asTyped(text) : null),
  };
  if (!use || !isListing(use)) return { ...ids, isBlind: true, search: async () => ({ found: [], whole: true }) };
  return {
    ...ids,
    async search(step, text) {
      const found = await tools.read(step, callOf(use, { text }), (answer) =>
        (readRows(answer, use) ?? []).slice(0, MOST_FOUND).map(({ id, text }) => kept({ id, name: text })),
      );
      return { found, whole: !mayBeCut(found) };
    },
  };
}

/**
 * Returns true if a tool may have cut the list. Tools do not say so, but they cut lists at 10, 25, 50 or another round
 * number.
 */
export const mayBeCut = ({ length }: readonly unknown[]): boolean => length >= 10 && length % 5 === 0;

/**
 * Finds the task that a person typed, by its id or name. Without quotation marks, the name ends where the note begins.
 *
 * @throws {Refused} if the service refuses the search
 */
export async function findTask(typed: TypedTime, tasks: TaskSource): Promise<ReadTask | UnclearTask> {
  const words = typedWords(typed);
  const { first, isOpen } = words;
  const read = (one: FittingTask): ReadTask => {
    const { open, day, note } = typed;
    const { task, words: taken } = one;
    if (!open || taken === words.shortest) return { task, day, note, isNoteUnread: false };
    const before = wordsBefore(one, words);
    const others = [...before, ...words.words.slice(taken)].join(' ');
    return { task, day: open.day, note: others || undefined, isNoteUnread: true, before: before.join(' ') };
  };
  const ofFirst = (task: Task): FittingTask => ({
    task,
    how: 'exactly',
    matching: 0,
    words: isOpen ? words.leadIns + 1 : words.shortest,
  });
  const mayBeId = typed.isId || !/\s/.test(first);
  const byId = mayBeId ? await tasks.byId(first) : null;
  // An id with digits may also begin a name, but a UUID does not.
  if (byId && (!isOpen || UUID.test(first))) return read(ofFirst(byId));
  const { fitting, whole } = byId ? await searchBeside(ofFirst(byId), words, tasks) : await search(words, tasks);
  const byOddId = typed.isId || fitting.length === 0 ? await tasks.byOddId(first, !isOpen, mayBeId) : null;
  if (byOddId) return read(ofFirst(byOddId));
  const { meant, others } = readingsOf(fitting);
  const offered = [...meant, ...others];
  const [only] = offered;
  if (only && isOpen && offered.length === 1 && (await isOfTask(words.words.slice(only.words), tasks))) {
    const fault = 'The note is the name of another task. Give one command for each task';
    return { fault, said: fault, offered: [read(only)] };
  }
  // A single match counts only if all pages were read, because another page may have a second one. An id never counts
  // as a name.
  if (only && whole && meant.length === 1 && others.length === 0 && !typed.isId) return read(only);
  return { ...faultOf(words, offered), offered: offered.slice(0, MOST_OFFERED).map(read) };
}

/**
 * Returns true if the words behind a task are the whole name of a known task, as in `Login and Checkout`. A quoted note
 * does not count.
 */
async function isOfTask(behind: readonly string[], tasks: TaskSource): Promise<boolean> {
  if (behind.length === 0 || !tasks.known) return false;
  const text = behind.join(' ').replace(/[.,:;!]$/, '');
  const other = text.replace(/^(?:and|und|et|y|e|or|oder|ou|o|[&+/,]) /i, '');
  if (other !== text && TASK_ID.test(other.replace('#', ''))) return true;
  const named = comparableName(other);
  return (await tasks.known()).some(({ name }) => comparableName(name) === named);
}

type FittingTask = Fit & { task: Task };

/**
 * Splits the matches into the longest exact ones, and those that the person has to choose from. A longer name may come
 * from a stranger, who chose it for the issue that they opened.
 */
function readingsOf(fitting: readonly FittingTask[]): Record<'meant' | 'others', FittingTask[]> {
  const ofKind = (how: Fit['how']) => fitting.filter((one) => one.how === how);
  const most = (some: readonly FittingTask[], of: 'words' | 'matching') => {
    const highest = Math.max(...some.map((one) => one[of]));
    return some.filter((one) => one[of] === highest);
  };
  const exactly = ofKind('exactly');
  const meant = most(exactly, 'words');
  const shorter = exactly.filter((one) => !meant.includes(one));
  const nearer = ofKind('nearly').filter(({ words }) => words > (meant[0]?.words ?? 0));
  if (meant.length + nearer.length > 0) return { meant, others: [...shorter, ...nearer] };
  const behind = most(ofKind('behind'), 'words');
  return { meant, others: behind.length > 0 ? behind : most(ofKind('partly'), 'matching') };
}

/** The words before a `behind` task, without those that introduce it: `pairing` in `pairing on Login`. */
function wordsBefore({ how, words: end, task }: FittingTask, { words }: TypedWords): readonly string[] {
  if (how !== 'behind') return [];
  const before = words.slice(0, end - comparableName(task.name).split(' ').length);
  return before.slice(0, before.findLastIndex((word) => !BEFORE_TASK.has(word.toLowerCase())) + 1);
}

function faultOf(typed: TypedWords, offered: readonly FittingTask[]): Pick<UnclearTask, 'fault' | 'said'> {
  const { words, isOpen } = typed;
  const shown = (some: readonly string[]) => cutToLength(some.join(' '), SHOWN_LENGTH, '…');
  const meant = offered.filter(({ how }) => how === 'exactly');
  const same = (fault: string) => ({ fault, said: fault });
  const [shortest] = meant.toSorted((one, other) => one.words - other.words);
  if (shortest) {
    const least = shortest.words;
    const start = Math.max(0, least - comparableName(shortest.task.name).split(' ').length);
    const named = `“${shown(words.slice(start, least)).replace(/[.,:;!]$/, '')}”`;
    if (meant.length > 1 && meant.every((one) => one.words === least))
      return same(`${meant.length} tasks are called ${named}`);
    if (offered.length === 1) return same(`More than one task may be called ${named}`);
    const longest = shown(words.slice(start, Math.max(...offered.map((one) => one.words))));
    return {
      fault: `${named} may be the task, or the beginning of another task's name`,
      said: `“${longest}” may be a task, or the task ${named} with a note`,
    };
  }
  const [first] = offered;
  if (first?.how === 'behind') {
    const before = wordsBefore(first, typed);
    const isOfOther = before.some((word) => /^(?:for|für|por|<?@.*)$/i.test(word));
    if (isOfOther) return same(ONLY_YOURSELF.slice(0, -1));
    return {
      fault: 'The text before the task is not a day',
      said: `“${shown(before)}” stands before the task, and is not a day`,
    };
  }
  if (first?.how === 'nearly') {
    const named = shown(words.slice(0, first.words));
    const said = `No task has the name “${named}”`;
    // Behind the name, the words may be a note, which the records must not contain.
    return { fault: isOpen ? 'No task has exactly this name' : said, said };
  }
  if (/\d/.test(typed.first) && !(isOpen && offered.length > 0))
    return same(`There is no task ${shown([typed.first])}`);
  const said = `No task has the name “${shown(words)}”, or a name that begins with it`;
  return { fault: isOpen ? 'No task has the name that you wrote, or a name that begins with it' : said, said };
}

/**
 * Searches for the name. If no task has it, searches for one of its words, because the service may use other spaces,
 * and then for the beginning of that word, because both may have a typo.
 */
async function search(typed: TypedWords, tasks: TaskSource): Promise<FittingTasks> {
  const { words, leadIns, searched, isOpen } = typed;
  const isNamed = ({ fitting }: FittingTasks) => fitting.some(({ how }) => how === 'exactly');
  const byName = await searchFor(searched.normalize('NFC'), 'search for the task', typed, tasks);
  const word = tellingWord(isOpen ? words.slice(leadIns, leadIns + NAME_WORDS) : words);
  if (isNamed(byName)) return byName;
  if (isOpen && byName.fitting.some(sharesWord)) {
    if (byName.fitting.some(({ how }) => how !== 'partly')) return byName;
    // Words of another task may come before the name: `this week on Login`.
    const named = (await knownBeside(byName, typed, tasks)).filter(({ how }) => how === 'behind');
    return { ...byName, fitting: [...byName.fitting, ...named] };
  }
  const byWord = word === searched ? byName : await searchFurther(word, 'search for a word of the task', typed, tasks);
  if (!isOpen && byName.fitting.length > 0 && !isNamed(byWord)) return { ...byWord, fitting: byName.fitting };
  // The word may belong to the note.
  const found = isOpen ? withoutPartly(byWord) : byWord;
  if (found.fitting.length > 0) return found;
  const near = await searchNear(word, typed, tasks);
  // The first word may not belong to the name: `lastfriday Login page`.
  const others = words.slice(leadIns + 1, leadIns + NAME_WORDS).filter((other) => other !== word);
  if (near.fitting.length > 0 || !isOpen || others.length === 0) return near;
  const { fitting, whole: isWhole } = await searchFurther(
    tellingWord(others),
    'search for a word behind the first',
    typed,
    tasks,
  );
  // A single matching word may belong to the note.
  const behind = fitting.filter(({ how, matching }) => how !== 'partly' || matching >= 2);
  return behind.length > 0 ? { fitting: behind, whole: isWhole } : byName;
}

/** Short, because the first letters rarely have a typo. */
const START_OF_WORD = 3;

/** Finds tasks that share a word with a text, allowing typos. */
export async function nearTasks(text: string, tasks: TaskSource): Promise<Task[]> {
  const typed = typedWords({ task: text });
  const { fitting } = await searchNear(tellingWord(typed.words), typed, tasks);
  return fitting.map(({ task }) => task);
}

/** Searches for tasks that share a word with the typed text, allowing typos. */
async function searchNear(word: string, typed: TypedWords, tasks: TaskSource): Promise<FittingTasks> {
  const start = word.slice(0, START_OF_WORD);
  const { fitting, whole } =
    start.length === word.length
      ? { fitting: [], whole: true }
      : await searchFurther(start, 'search for the beginning of a word', typed, tasks);
  const known = await knownBeside({ fitting, whole }, typed, tasks);
  // An exact match is left out: the search would have found the task if it still existed.
  const others = known.filter(({ how }) => how !== 'exactly');
  return { fitting: [...fitting, ...others].filter(sharesWord), whole };
}

/** Returns the tasks that earlier jobs have seen, without those that the search found. */
async function knownBeside({ fitting }: FittingTasks, typed: TypedWords, tasks: TaskSource): Promise<FittingTask[]> {
  const listed = new Set(fitting.map(({ task }) => String(task.id)));
  const known = ((await tasks.known?.()) ?? []).filter(({ id }) => !listed.has(String(id)));
  return known.map((task) => ({ task, ...fitOf(task, typed) }));
}

const sharesWord = ({ how, matching }: Fit): boolean => how !== 'partly' || matching >= 1;

const withoutPartly = ({ fitting, whole }: FittingTasks): FittingTasks => ({
  fitting: fitting.filter(({ how }) => how !== 'partly'),
  whole,
});

/** Searches for names that begin with a task's id: for `404 page`, if 404 is a task, too. */
async function searchBeside(byId: FittingTask, typed: TypedWords, tasks: TaskSource): Promise<FittingTasks> {
  const { fitting, whole } = await searchFurther(typed.first, 'search for the task', typed, tasks);
  const others = withoutPartly({ fitting, whole }).fitting.filter(
    ({ task }) => String(task.id) !== String(byId.task.id),
  );
  return { fitting: [byId, ...others], whole };
}

interface FittingTasks {
  fitting: FittingTask[];
  whole: boolean;
}

/** Searches for another text than the typed one. The service may refuse a short text; then nothing is found. */
function searchFurther(...search: Parameters<typeof searchFor>): Promise<FittingTasks> {
  return searchFor(...search).catch((error) => {
    if (!isRefusedInput(error)) throw error;
    return { fitting: [], whole: false };
  });
}

async function searchFor(q: string, step: string, typed: TypedWords, tasks: TaskSource): Promise<FittingTasks> {
  const { found, whole } = await tasks.search(step, q);
  return { fitting: found.map((task) => ({ task, ...fitOf(task, typed) })), whole };
}

/** Returns the longest word. Prefers words of ASCII letters and digits, which can be typed in only one way. */
function tellingWord(words: readonly string[]): string {
  const longestFirst = words.toSorted((a, b) => b.length - a.length);
  return longestFirst.find((word) => /^[a-z\d]+$/i.test(word)) ?? longestFirst[0] ?? '';
}
