import type { MappedCommand } from '../lib/config/mcp.ts';
import { isRecord } from '../lib/mcp/json-rpc.ts';
import { dataOf } from '../lib/mcp/rows.ts';
import { schemaHash } from '../lib/mcp/schema-hash.ts';
import type { Tool, ToolResult } from '../lib/mcp/tool.ts';

/** A tool that may serve a command, as `connections.<name>.mcp.commands` has it. */
export interface ProposedUse {
  tool: string;
  arguments: Record<string, unknown>;
  schema: string;
}

/** How the tool of a command is recognized: by words, because the names are unknown until the instance is asked. */
interface Look {
  verbs: readonly string[];
  nouns: readonly string[];
  reads: boolean;
  /** By field of the command: what its argument may be called. In the order in which they are tried. */
  fields: Readonly<Record<string, readonly string[]>>;
  /** At least one field of each must have its argument. */
  needs: readonly (readonly string[])[];
  /** What a yes-or-no argument such as `done` is. */
  flag?: boolean;
}

const LISTS = ['list', 'find', 'search', 'query', 'get', 'read'];
const FLAG_NAMES = ['done', 'completed', 'complete', 'checked', 'iscompleted', 'isdone', 'closed'];
const items = (verbs: readonly string[], flag: boolean): Look => ({
  verbs,
  nouns: ['checklist', 'checklists', 'item', 'items', 'todo', 'todos'],
  reads: false,
  fields: { items: ['items', 'itemids', 'ids'], item: ['item', 'itemid', 'checklistitem', 'checklistitemid', 'id'] },
  needs: [['items', 'item']],
  flag,
});

const LOOKS: Readonly<Record<MappedCommand, Look>> = {
  log: {
    verbs: ['log', 'add', 'create', 'book', 'track', 'record', 'enter'],
    nouns: ['time', 'timelog', 'timelogs', 'worklog', 'hours', 'effort', 'timesheet'],
    reads: false,
    fields: {
      task: ['task', 'taskid', 'workitem', 'workitemid', 'issue', 'issueid'],
      minutes: ['minutes', 'mins', 'durationminutes'],
      hours: ['hours', 'hour', 'spent', 'duration', 'time', 'effort', 'spenthours'],
      date: ['date', 'day', 'on', 'when', 'workdate', 'logdate'],
      note: ['comment', 'note', 'notes', 'description', 'text', 'message'],
    },
    needs: [['task'], ['hours', 'minutes']],
  },
  done: items(['complete', 'finish', 'check', 'tick', 'done', 'mark', 'set'], true),
  undo: items(['reopen', 'uncheck', 'undo', 'complete', 'check', 'tick', 'mark', 'set'], false),
  defect: {
    verbs: ['report', 'create', 'open', 'add', 'file', 'raise'],
    nouns: ['defect', 'defects', 'bug', 'bugs'],
    reads: false,
    fields: {
      project: ['project', 'projectid'],
      title: ['title', 'name', 'summary', 'subject'],
      description: ['description', 'body', 'details', 'text'],
      type: ['type', 'kind', 'category'],
      priority: ['priority'],
      severity: ['severity'],
    },
    needs: [['title']],
  },
  find: {
    verbs: LISTS,
    nouns: ['task', 'tasks'],
    reads: true,
    fields: { text: ['text', 'query', 'q', 'containing', 'contains', 'search', 'term', 'keyword', 'title', 'name'] },
    needs: [['text']],
  },
};

/** The tools that list what a command creates, to look for it after a lost answer. */
const LISTINGS = {
  log: { nouns: LOOKS.log.nouns, fields: { task: LOOKS.log.fields.task ?? [], date: ['from', 'to', 'date', 'day'] } },
  defect: { nouns: LOOKS.defect.nouns, fields: { project: ['project', 'projectid'] } },
} as const;

/** The tool that most probably serves a command, with its arguments; undefined where none looks like it. */
export function proposeFor(command: MappedCommand, tools: readonly Tool[]): ProposedUse | undefined {
  return best(LOOKS[command], tools);
}

/** The tool that most probably lists what a command creates. */
export function proposeListing(command: MappedCommand, tools: readonly Tool[]): ProposedUse | undefined {
  if (command !== 'log' && command !== 'defect') return undefined;
  const listing = LISTINGS[command];
  return best({ ...listing, verbs: LISTS, reads: true, needs: [] }, tools);
}

function best(look: Look, tools: readonly Tool[]): ProposedUse | undefined {
  const rated = tools.flatMap((tool) => {
    if (tool.hints.readOnly !== look.reads || tool.hints.destructive) return [];
    const found = argumentsFor(look, tool);
    const score = scoreOf(look, tool);
    return found && score > 0 ? [{ tool, found, score: score + Object.keys(found).length / 100 }] : [];
  });
  const [first] = rated.toSorted((a, b) => b.score - a.score);
  return first && { tool: first.tool.name, arguments: first.found, schema: schemaHash(first.tool) };
}

/** Zero unless the tool's name has a word for the action and a word for its object. */
function scoreOf({ verbs, nouns }: Look, { name }: Tool): number {
  const words = wordsOf(name);
  const verb = verbs.findIndex((one) => words.includes(one));
  const hasNoun = nouns.some((one) => words.includes(one));
  return verb === -1 || !hasNoun ? 0 : 2 - verb / verbs.length;
}

/** @returns undefined where an argument that the tool requires has no field */
function argumentsFor({ fields, needs, flag }: Look, { inputSchema }: Tool): Record<string, unknown> | undefined {
  const properties = isRecord(inputSchema.properties) ? inputSchema.properties : {};
  const required: readonly unknown[] = Array.isArray(inputSchema.required) ? inputSchema.required : [];
  const used = new Set<string>();
  const found: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(properties)) {
    const plain = wordsOf(name).join('');
    const isFlag = flag !== undefined && FLAG_NAMES.includes(plain) && isRecord(schema) && schema.type === 'boolean';
    const [field] = Object.entries(fields).find(([, names]) => names.includes(plain)) ?? [];
    if (isFlag) found[name] = flag;
    else if (field !== undefined) {
      found[name] = `{${field}}`;
      used.add(field);
    } else if (required.includes(name)) return undefined;
  }
  return needs.every((one) => one.some((field) => used.has(field))) ? found : undefined;
}

/** `createTimeLog` and `create_time_log` as create, time, log. */
const wordsOf = (name: string) =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');

/** The same use, with the marker in the argument that has the note or the description. */
export function marked(use: ProposedUse): ProposedUse | undefined {
  const entry = Object.entries(use.arguments).find(([, value]) => value === '{note}' || value === '{description}');
  if (!entry) return undefined;
  const [name, value] = entry;
  return { ...use, arguments: { ...use.arguments, [name]: `${value} {marker}` } };
}

/** Where in a result the list is, the ids and the texts; undefined where the result has no list with entries. */
export function shapeOf(
  result: ToolResult,
  textNames: readonly string[],
): { rows: string; id: string; text: string } | undefined {
  const data = dataOf(result);
  if (!isRecord(data)) return undefined;
  for (const [rows, list] of Object.entries(data)) {
    const row: unknown = Array.isArray(list) ? list[0] : undefined;
    if (!isRecord(row)) continue;
    const names = Object.keys(row);
    const singular = wordsOf(rows).join('').replace(/ies$/, 'y').replace(/s$/, '');
    const id =
      names.find((name) => ['id', singular, `${singular}id`].includes(wordsOf(name).join(''))) ??
      names.find((name) => wordsOf(name).at(-1) === 'id');
    const text = textNames.flatMap((wanted) => names.filter((name) => wordsOf(name).join('') === wanted))[0];
    if (id !== undefined && text !== undefined) return { rows, id, text };
  }
  return undefined;
}
