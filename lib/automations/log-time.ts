import type * as zod from 'zod';
import * as z from 'zod/mini';
import type { Day } from '../commands/day.ts';
import { printDuration } from '../commands/duration.ts';
import { type LogCommand, printLog, readLog } from '../commands/log.ts';
import { comparableName } from '../commands/words.ts';
import { digest } from '../digest.ts';
import { type Automation, defineAutomation, defineJobs } from '../jobs/automation.ts';
import { asNotDone, NotDone } from '../jobs/interruption.ts';
import type { JobDraft } from '../jobs/job.ts';
import type { Steps } from '../jobs/steps.ts';
import { idFromText } from '../partner/operation.ts';
import { searchTasks, taskDetail, taskName } from '../partner/tasks.ts';
import { createTimelog } from '../partner/timelogs.ts';
import { cutToLength } from '../text.ts';
import type { Tools } from './tools.ts';
import { type CommandOrigin, eventOf, type Verb } from './verb.ts';

const timeToLog = z.object({
  by: z.object({ in: z.enum(['slack', 'github']), id: z.string() }),
  minutes: z.number(),
  day: z.string(),
  /** The task's id or name. */
  task: z.string(),
  note: z.optional(z.string()),
  /** When the person asked, if the event may be late; epoch milliseconds. */
  askedAt: z.optional(z.number()),
});
type TimeToLog = z.output<typeof timeToLog>;

const timeJobs = defineJobs('log-time', timeToLog);

export const logVerb: Verb<LogCommand> = {
  verb: 'log',
  usage: 'log <duration> [day] <task> [note]',
  does: 'logs time on a task, for you',
  examples: [
    'log 1h30m 4711 wrote tests',
    'log 1.5h yesterday 4711',
    'log 90m 2026-11-18 4711',
    'log 1:30 "Checkout page" wrote tests',
    'log 2h 4711 yesterday wrote tests',
  ],
  read: readLog,
  print: printLog,
  permission: 'log',
  inComments: 'logTime',
  asksBeforeRepeating: true,
  job: timeJob,
};

/** The job for time that a person logs, with a command or a form. */
export function timeJob({ verb, ...time }: LogCommand, origin: CommandOrigin): JobDraft {
  const { note, ...withoutNote } = time;
  const { by, askedAt } = origin;
  return timeJobs.draft({
    ...eventOf(verb, printLog({ verb, ...withoutNote }), origin),
    input: { by, ...time, ...(askedAt !== undefined && { askedAt }) },
  });
}

interface Task {
  id: string | number;
  name: string;
}

const PAGE_SIZE = 100;
const PAGES = 10;
const SUGGESTIONS = 5;
const SHOWN_LENGTH = 250;
const DAY_MS = 86_400_000;

/** Logs time for the person who asked, and for no one else. */
export function logTime({ people, firstEntries }: Tools): Automation {
  return defineAutomation(timeJobs, async (time, job, steps) => {
    const user = await people.userOf(time.by, job.connection, steps);
    const date = dateOf(time.day, time.askedAt ?? job.createdAt, user.timeZone);
    const isPublic = time.by.in === 'github';
    const task = await findTask(time, isPublic, steps);
    const first = await firstEntries.claim(job);

    const marker = `[partner-relay ${digest(['time entry', job.id])}]`;
    const entry = {
      task_id: task.id,
      user_id: user.userId,
      date,
      hours: Math.round((time.minutes / 60) * 10_000) / 10_000,
      note: time.note ? `${time.note} ${marker}` : marker,
    };
    const { id } = await create(entry, marker, isPublic, steps);
    if (first) await firstEntries.verify(job, steps, { id, ...entry });
    const duration = printDuration(time.minutes);
    // Comments on GitHub are public, so they show no names of tasks or people.
    const what = isPublic ? `task ${task.id}` : `${task.name} for ${user.name}`;
    return `logged ${duration} on ${what}, ${date}, as time entry ${id}`;
  });
}

async function create(entry: zod.input<typeof createTimelog.payload>, marker: string, isPublic: boolean, steps: Steps) {
  try {
    return await steps.create('log the time', createTimelog, entry, marker);
  } catch (error) {
    throw asNotDone(error, 'this time entry', isPublic);
  }
}

/** The task with that id, or the only one with that name. */
async function findTask(time: TimeToLog, isPublic: boolean, steps: Steps): Promise<Task> {
  const { task: text } = time;
  const byId = /\s/.test(text) ? null : await detail(text, steps);
  if (byId) return byId;
  const { found, named, whole } = await search(text, steps);
  const longer = named.length > 0 ? found.filter(({ name }) => goesOnInNote(name, time)) : [];
  // A page that was not read may have a second one.
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
  /** The tasks with exactly that name. */
  named: Task[];
  whole: boolean;
}

/**
 * Searches for the name, then for one of its words if no task matches: the name may have other whitespace in the
 * service.
 */
async function search(name: string, steps: Steps): Promise<Found> {
  const byName = await searchFor(name.normalize('NFC'), 'search for the task', name, steps);
  const word = tellingWord(name);
  if (byName.named.length > 0 || word === undefined) return byName;
  const byWord = await searchFor(word, 'search for a word of the task', name, steps);
  return byName.found.length > 0 ? { ...byWord, found: byName.found } : byWord;
}

async function searchFor(q: string, step: string, name: string, steps: Steps): Promise<Found> {
  const query = { q, per_page: PAGE_SIZE };
  const { kept: found, whole } = await steps.list(step, searchTasks, query, taskName, ({ id }) => id, PAGES);
  const wanted = comparableName(name);
  return { found, named: found.filter((task) => comparableName(task.name) === wanted), whole };
}

/** The longest word, preferably one that can be typed in only one way; undefined for a name of one word. */
function tellingWord(name: string): string | undefined {
  const words = name.split(' ').toSorted((a, b) => b.length - a.length);
  return words.length < 2 ? undefined : (words.find((word) => /^[a-z\d]+$/i.test(word)) ?? words[0]);
}

/** True if the name may have been typed without quotation marks, so that its end was read as the note. */
function goesOnInNote(name: string, { task, note }: TimeToLog): boolean {
  if (note === undefined) return false;
  const begun = `${comparableName(task)} `;
  const longer = comparableName(name);
  return longer.startsWith(begun) && `${begun}${comparableName(note)} `.startsWith(`${longer} `);
}

function detail(text: string, steps: Steps): Promise<Task | null> {
  const payload = { task_id: idFromText(text) };
  // A service with another name for this field may ignore it and return any task.
  const keep = (task: Parameters<typeof taskName>[0]) => {
    const named = taskName(task);
    return named && String(named.id).toLowerCase() === text.toLowerCase() ? named : null;
  };
  return steps.call('find the task', taskDetail, payload, keep, (refused) => {
    // Which of the other statuses means "unknown" and which "not an id" is not shown.
    if (refused.refusal.status === 403) throw refused;
    return null;
  });
}

/** The date in the person's time zone when they asked. */
function dateOf(day: Day, askedAt: number, timeZone: string): string {
  // Swedish writes dates as ISO 8601 does.
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone }).format(askedAt);
  if (day === 'today') return today;
  if (day === 'yesterday') return new Date(Date.parse(today) - DAY_MS).toISOString().slice(0, 10);
  if (day > today) throw new NotDone(`${day} is in the future: you can log time for today or a past day`);
  return day;
}
