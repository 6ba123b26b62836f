import type * as z from 'zod';
import type { Day } from '../commands/command.ts';
import { printDuration } from '../commands/duration.ts';
import { digest } from '../digest.ts';
import { asNotDone, NotDone } from '../jobs/interruption.ts';
import type { Steps } from '../jobs/steps.ts';
import { idFromText } from '../partner/operation.ts';
import { searchTasks, taskDetail, taskName } from '../partner/tasks.ts';
import { createTimelog } from '../partner/timelogs.ts';
import type { People, Person } from '../people/people.ts';
import { cutToLength } from '../text.ts';
import type { FirstTimeEntries } from '../timesheets/first-time-entry.ts';
import type { Automation } from './automation.ts';

export const LOG_TIME = 'log-time';

/** What a job of this automation knows. */
export interface TimeToLog {
  by: Person;
  minutes: number;
  day: Day;
  /** Its id, or its name. */
  task: string;
  note?: string;
  /** Where the event may be late; epoch milliseconds. */
  askedAt?: number;
}

export interface LogTimeOptions {
  people: People;
  firstEntries: FirstTimeEntries;
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

/** Logs time for the person who asked, and for nobody else. */
export function logTime({ people, firstEntries }: LogTimeOptions): Automation {
  return {
    name: LOG_TIME,
    async run(job, steps) {
      const time = job.input as unknown as TimeToLog;
      const user = await people.userOf(time.by, job.connection, steps);
      const date = dateOf(time.day, time.askedAt ?? job.createdAt, user.timeZone);
      const isPublic = time.by.in === 'github';
      const task = await findTask(time.task, isPublic, steps);
      const first = await firstEntries.claim(job);

      const marker = `[partner-relay ${digest(['time entry', job.id])}]`;
      const entry = {
        task_id: task.id,
        user_id: user.userId,
        date,
        hours: Math.round((time.minutes / 60) * 10_000) / 10_000,
        note: time.note ? `${time.note} ${marker}` : marker,
      };
      const { id } = await create(entry, marker, steps);
      if (first) await firstEntries.verify(job, steps, { id, ...entry });
      const duration = printDuration(time.minutes);
      // Comments on GitHub are public: there nobody is told what tasks and people are called.
      const what = isPublic ? `task ${task.id}` : `${task.name} for ${user.name}`;
      return `logged ${duration} on ${what}, ${date}, as time entry ${id}`;
    },
  };
}

async function create(entry: z.input<typeof createTimelog.payload>, marker: string, steps: Steps) {
  try {
    return await steps.create('log the time', createTimelog, entry, marker);
  } catch (error) {
    throw asNotDone(error, 'this time entry');
  }
}

/** The task of that id, or the only one of that name. */
async function findTask(text: string, isPublic: boolean, steps: Steps): Promise<Task> {
  const byId = /\s/.test(text) ? null : await detail(text, steps);
  if (byId) return byId;
  const { kept: found, whole } = await steps.list(
    'search for the task',
    searchTasks,
    { q: text, per_page: PAGE_SIZE },
    taskName,
    PAGES,
  );
  const named = found.filter(({ name }) => name.toLowerCase() === text.toLowerCase());
  // On a page that was not read there may be a second one.
  if (whole && named.length === 1 && named[0]) return named[0];
  const few = (named.length > 0 ? named : found).slice(0, SUGGESTIONS);
  const shown = cutToLength(text, SHOWN_LENGTH, '…');
  if (few.length === 0) throw new NotDone(`There is no task ${shown}. Give its id, or its whole name in quotes.`);
  const list = few.map(({ id, name }) => (isPublic ? id : `${id} (${cutToLength(name, SHOWN_LENGTH, '…')})`));
  throw new NotDone(`${faultOf(named.length, shown)}. Did you mean one of these? ${list.join(', ')}`);
}

function faultOf(named: number, shown: string): string {
  if (named === 0) return `There is no task ${shown}`;
  return `${named === 1 ? 'More than one task may be' : `${named} tasks are`} called ${shown}`;
}

function detail(text: string, steps: Steps): Promise<Task | null> {
  const payload = { task_id: idFromText(text) };
  // A service that calls the identifier otherwise may answer with any task.
  const keep = (task: Parameters<typeof taskName>[0]) => {
    const named = taskName(task);
    return named && String(named.id) === text ? named : null;
  };
  return steps.call('find the task', taskDetail, payload, keep, (refused) => {
    // Which of the others says "unknown", and which "not an id", is not shown.
    if (refused.refusal.status === 403) throw refused;
    return null;
  });
}

/** The calendar's day where the person is, as of when they asked. */
function dateOf(day: Day, askedAt: number, timeZone: string): string {
  // Swedish writes dates as ISO 8601 does.
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone }).format(askedAt);
  if (day === 'today') return today;
  if (day === 'yesterday') return new Date(Date.parse(today) - DAY_MS).toISOString().slice(0, 10);
  if (day > today) throw new NotDone(`${day} is still to come: time is logged once it is spent`);
  return day;
}
