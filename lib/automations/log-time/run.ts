import type * as zod from 'zod';
import type { Day } from '../../commands/day.ts';
import { printDuration } from '../../commands/duration.ts';
import { asNotDone, NotDone } from '../../engine/record/interruption.ts';
import type { Job } from '../../engine/record/job.ts';
import { type Automation, defineAutomation } from '../../engine/run/automation.ts';
import type { Steps } from '../../engine/run/steps.ts';
import type { Outcome } from '../../engine/run/tell-person.ts';
import { createTimelog } from '../../service/partner/operations/timelogs.ts';
import type { Mine } from '../as-person.ts';
import type { Context } from '../context.ts';
import { createWith } from '../create-with.ts';
import { type TimeToLog, timeJobs } from './draft.ts';
import { findTask, tasksOfKey, tasksOfTool } from './find-task.ts';

const DAY_MS = 86_400_000;

/** Logs time for the person who asked, and for no one else. */
export function logTime({ people, firstEntries, asPerson, markers }: Context): Automation {
  return defineAutomation(timeJobs, async (time, job, steps) => {
    const mine = await asPerson('log', time.by, job, steps);
    if (mine) return logAsPerson(mine, time, job, steps);
    const user = await people.userOf(time.by, job.connection, steps);
    const date = dateOf(time.day, askedAt(job), user.timeZone);
    const isPublic = time.by.in === 'github';
    const task = await findTask(time, isPublic, tasksOfKey(steps));
    const first = await firstEntries.claim(job);

    const marker = await markers.of('time entry', job.id);
    const entry = {
      task_id: task.id,
      user_id: user.userId,
      date,
      hours: hoursOf(time),
      note: time.note ? `${time.note} ${marker}` : marker,
    };
    const { id } = await create(entry, marker, isPublic, steps);
    if (first) await firstEntries.verify(job, steps, { id, ...entry });
    const duration = printDuration(time.minutes);
    // Comments on GitHub are public, so they show no names of tasks or people.
    const what = isPublic ? `task ${task.id}` : `${task.name} for ${user.name}`;
    return `logged ${duration} on ${what}, ${date}, as time entry ${id}`;
  });

  /** Logs it with the tool that is mapped, as the person who asked. */
  async function logAsPerson({ uses, tools }: Mine<'log'>, time: TimeToLog, job: Job, steps: Steps): Promise<Outcome> {
    const date = dateOf(time.day, askedAt(job), await people.timeZoneOf(time.by, steps));
    const isPublic = time.by.in === 'github';
    const task = await findTask(time, isPublic, tasksOfTool(tools, uses.find));
    const { minutes, note } = time;
    const marker = await markers.of('time entry', job.id);
    const fields = { task: task.id, hours: hoursOf(time), minutes, date, note, marker };
    const made = { step: 'log the time', use: uses.own, fields, unclear: 'this was logged', isPublic };
    const id = await createWith(tools, made);
    const what = isPublic ? `task ${task.id}` : task.name;
    const text = `logged ${printDuration(minutes)} on ${what} as you, ${date}`;
    return { text: id === undefined ? text : `${text}, as time entry ${id}`, id };
  }
}

const hoursOf = ({ minutes }: TimeToLog) => Math.round((minutes / 60) * 10_000) / 10_000;

async function create(entry: zod.input<typeof createTimelog.payload>, marker: string, isPublic: boolean, steps: Steps) {
  try {
    return await steps.create('log the time', createTimelog, entry, { marker });
  } catch (error) {
    throw asNotDone(error, 'this time entry', isPublic);
  }
}

/** A job that acts through an account is signed, and so is this time. */
const askedAt = ({ asked, createdAt }: Job) => asked?.at ?? createdAt;

/** The date in the person's time zone when they asked. */
function dateOf(day: Day, askedAt: number, timeZone: string): string {
  // Swedish writes dates as ISO 8601 does.
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone }).format(askedAt);
  if (day === 'today') return today;
  if (day === 'yesterday') return new Date(Date.parse(today) - DAY_MS).toISOString().slice(0, 10);
  if (day > today) throw new NotDone(`${day} is in the future: you can log time for today or a past day`);
  return day;
}
