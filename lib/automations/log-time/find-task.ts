import { readRows } from '../../as-person/protocol/rows.ts';
import { fillTemplate } from '../../as-person/protocol/template.ts';
import { comparableName } from '../../commands/words.ts';
import type { FindTool } from '../../config/mcp.ts';
import { NotDone } from '../../engine/record/interruption.ts';
import type { Steps } from '../../engine/run/steps.ts';
import type { ToolSteps } from '../../engine/run/tool-steps.ts';
import { idFromText } from '../../service/partner/operation.ts';
import { searchTasks, taskDetail, taskName } from '../../service/partner/operations/tasks.ts';
import { cutToLength } from '../../text.ts';

export interface Task {
  id: string | number;
  name: string;
}

/** A task as a person typed it, and what they typed behind it. */
interface NamedTask {
  /** Its id, or its name. */
  task: string;
  note?: string | undefined;
}

/** Where tasks are looked up. Each search is a step of the job. */
export interface TaskSource {
  byId(text: string): Promise<Task | null>;
  search(step: string, text: string): Promise<{ found: Task[]; whole: boolean }>;
}

const PAGE_SIZE = 100;
const PAGES = 10;
const SUGGESTIONS = 5;
const SHOWN_LENGTH = 250;
/** Of the name of a task that a tool lists: a page of them goes into one item of the journal, which holds 400 KB. */
const KEPT_LENGTH = 500;

/** The tasks that the connection's key can see. */
export function tasksOfKey(steps: Steps): TaskSource {
  return {
    byId: (text) => detail(text, steps),
    async search(step, q) {
      const query = { q, per_page: PAGE_SIZE };
      const { kept: found, whole } = await steps.list(step, searchTasks, query, taskName, ({ id }) => id, PAGES);
      return { found, whole };
    },
  };
}

/** A number, a UUID or a key such as WEB-42: what needs no search. */
const ID = /^(\d+|[0-9a-f]{8}-[0-9a-f-]{27}|[a-z]{1,10}-\d+)$/i;

/** The tasks that a person can see, by the tool that serves `find`. Without one that lists rows, what is typed is the id. */
export function tasksOfTool(tools: ToolSteps, use: FindTool | undefined): TaskSource {
  const { rows, id, text: name } = use ?? {};
  const asTyped = (text: string): Task => ({ id: text, name: text });
  if (!use || rows === undefined || id === undefined || name === undefined) {
    return { byId: async (text) => asTyped(text), search: async () => ({ found: [], whole: true }) };
  }
  const at = { rows, id, text: name };
  return {
    byId: async (text) => (ID.test(text) ? asTyped(text) : null),
    async search(step, text) {
      const call = { ...use, arguments: fillTemplate(use.arguments, { text }) };
      const found = await tools.read(step, call, (result) =>
        (readRows(result, at) ?? []).slice(0, PAGE_SIZE).map(({ id, text }) => ({
          id,
          name: cutToLength(text, KEPT_LENGTH, '…'),
        })),
      );
      // What no search finds may be an id all the same; the tool knows.
      return { found: found.length === 0 && !/\s/.test(text) ? [asTyped(text)] : found, whole: true };
    },
  };
}

/** The task of that id, or the only one of that name. */
export async function findTask(time: NamedTask, isPublic: boolean, tasks: TaskSource): Promise<Task> {
  const { task: text } = time;
  const byId = /\s/.test(text) ? null : await tasks.byId(text);
  if (byId) return byId;
  const { found, named, whole } = await search(text, tasks);
  const longer = named.length > 0 ? found.filter(({ name }) => goesOnInNote(name, time)) : [];
  // On a page that was not read there may be a second one.
  if (whole && named.length === 1 && named[0] && longer.length === 0) return named[0];
  const few = (named.length > 0 ? [...named, ...longer] : found).slice(0, SUGGESTIONS);
  const shown = cutToLength(text, SHOWN_LENGTH, '…');
  if (few.length === 0) throw new NotDone(`There is no task ${shown}. Give its id, or its whole name in quotes.`);
  const list = few.map(({ id, name }) => (isPublic ? id : `${id} (${cutToLength(name, SHOWN_LENGTH, '…')})`));
  const fault =
    longer.length > 0 ? `${shown} may be one task or the beginning of another` : faultOf(named.length, shown);
  throw new NotDone(`${fault}. Did you mean one of these? ${list.join(', ')}`);
}

function faultOf(named: number, shown: string): string {
  if (named === 0) return `There is no task ${shown}`;
  return `${named === 1 ? 'More than one task may be' : `${named} tasks are`} called ${shown}`;
}

interface Found {
  found: Task[];
  /** Those of exactly that name. */
  named: Task[];
  whole: boolean;
}

/** Searches for the name, and where no task has it for a word of it: in the service it may have other blanks. */
async function search(name: string, tasks: TaskSource): Promise<Found> {
  const byName = await searchFor(name.normalize('NFC'), 'search for the task', name, tasks);
  const word = tellingWord(name);
  if (byName.named.length > 0 || word === undefined) return byName;
  const byWord = await searchFor(word, 'search for a word of the task', name, tasks);
  return byName.found.length > 0 ? { ...byWord, found: byName.found } : byWord;
}

async function searchFor(q: string, step: string, name: string, tasks: TaskSource): Promise<Found> {
  const { found, whole } = await tasks.search(step, q);
  const wanted = comparableName(name);
  return { found, named: found.filter((task) => comparableName(task.name) === wanted), whole };
}

/** The longest word, if possible of those that can be typed in one way only; undefined for a name of one word. */
function tellingWord(name: string): string | undefined {
  const words = name.split(' ').toSorted((a, b) => b.length - a.length);
  return words.length < 2 ? undefined : (words.find((word) => /^[a-z\d]+$/i.test(word)) ?? words[0]);
}

/** Whether a name may have been typed without quotation marks, and its end been taken for the note. */
function goesOnInNote(name: string, { task, note }: NamedTask): boolean {
  if (note === undefined) return false;
  const begun = `${comparableName(task)} `;
  const longer = comparableName(name);
  return longer.startsWith(begun) && `${begun}${comparableName(note)} `.startsWith(`${longer} `);
}

function detail(text: string, steps: Steps): Promise<Task | null> {
  const payload = { task_id: idFromText(text) };
  // A service that calls the identifier otherwise may answer with any task.
  const keep = (task: Parameters<typeof taskName>[0]) => {
    const named = taskName(task);
    return named && String(named.id).toLowerCase() === text.toLowerCase() ? named : null;
  };
  return steps.call('find the task', taskDetail, payload, keep, (refused) => {
    // Which of the others says "unknown", and which "not an id", is not shown.
    if (refused.refusal.status === 403) throw refused;
    return null;
  });
}
