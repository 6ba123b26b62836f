import * as z from 'zod/mini';
import { printDuration } from '../../commands/duration.ts';
import { dateIn } from '../../dates.ts';
import { asNotDone } from '../../engine/record/interruption.ts';
import type { Job } from '../../engine/record/job.ts';
import { type Automation, defineAutomation } from '../../engine/run/automation.ts';
import type { Steps } from '../../engine/run/steps.ts';
import type { Outcome } from '../../engine/run/tell-person.ts';
import { createTimelog } from '../../service/partner/operations/timelogs.ts';
import type { KnownDay, KnownTimesheet, ShownReminder } from '../../timesheets/known-timesheets.ts';
import { reminderMessage } from '../../timesheets/reminder-message.ts';
import type { Mine } from '../as-person.ts';
import type { Context } from '../context.ts';
import { createWith } from '../create-with.ts';
import { type TimeToLog, timeJobs } from './command.ts';
import { dayInWords, ensureFits, totalInWords } from './day-total.ts';
import { tasksOfKey, tasksOfTool } from './find-task.ts';
import type { AskedTime, OfferedEntry } from './offer-blocks.ts';
import { dateAsked, whatToLog } from './what-to-log.ts';

/** Logs time for the person who asked, and for no one else. */
export function logTime(context: Context): Automation {
  const { config, people, firstEntries, asPerson, markers, knownTasks, timesheetOf, slack, clock } = context;
  const languages = config.slack?.languages ?? [];

  return defineAutomation(timeJobs, async (time, job, steps) => {
    const mine = await asPerson('log', time.by, job, steps);
    if (mine) return logAsPerson(mine, time, job, steps);
    const user = await people.userOf(time.by, job.connection, steps);
    const isPublic = time.by.in === 'github';
    const asked = { time, job, today: dateAsked(job, user.timeZone), languages };
    let tasks: ReturnType<typeof knownTasks.get> | undefined;
    const known = () => (tasks ??= knownTasks.get(job.connection));
    const { task, note, date } = await whatToLog(asked, tasksOfKey(steps, known)).catch((error: unknown) =>
      Promise.reject(asNotDone(error, 'this search', isPublic)),
    );
    await knownTasks.learn(job.connection, [task], await known());
    const timesheet = timesheetOf({ connection: job.connection, address: user.email });
    const day = await dayOf(timesheet, { task, note, date }, asked, steps);
    const first = await firstEntries.claim(job);

    const marker = await markers.of('time entry', job.id);
    const entry = {
      task_id: task.id,
      user_id: user.userId,
      date,
      hours: hoursOf(time),
      note: note ? `${note} ${marker}` : marker,
    };
    const { id } = await steps
      .create('log the time', createTimelog, entry, { marker })
      .catch((error: unknown) => Promise.reject(asNotDone(error, 'this time entry', isPublic)));
    const noted = { jobId: job.id, id: String(id), date, minutes: time.minutes };
    const shown = await timesheet.add(noted);
    if (first) await firstEntries.verify(job, steps, { id, ...entry });
    await updateReminders(shown, job, steps);
    const made = { time, task, note, date, id, day, now: dateIn(user.timeZone, clock()) };
    return outcomeOf(made, `${task.name} for ${user.name}`);
  });

  /** Logs it with the tool that is mapped, as the person who asked. */
  async function logAsPerson(mine: Mine<'log'>, time: TimeToLog, job: Job, steps: Steps): Promise<Outcome> {
    const { uses, tools, holder } = mine;
    const isPublic = time.by.in === 'github';
    const timeZone = await people.timeZoneOf(time.by, steps);
    const asked = { time, job, today: dateAsked(job, timeZone), languages };
    const { task, note, date } = await whatToLog(asked, tasksOfTool(tools, uses.find));
    const address = (await people.addressOf(time.by, steps)) ?? `${holder.in}#${holder.id}`;
    const timesheet = timesheetOf({ connection: job.connection, address });
    const day = await dayOf(timesheet, { task, note, date }, asked, steps);
    const { minutes } = time;
    const marker = await markers.of('time entry', job.id);
    const fields = { task: task.id, hours: hoursOf(time), minutes, date, note, marker };
    const made = { step: 'log the time', use: uses.own, fields, unclear: 'this was logged', isPublic };
    const id = await createWith(tools, made);
    const noted = { jobId: job.id, id: id === undefined ? id : String(id), date, minutes };
    await updateReminders(await timesheet.add(noted), job, steps);
    const logged = { time, task, note, date, id, day, now: dateIn(timeZone, clock()) };
    return { ...outcomeOf(logged, task.name, ' as you'), id };
  }

  /**
   * Lets the reminders of a person say what is missing now. The time is logged whatever comes of this, so no failure of
   * Slack ends or repeats the job.
   */
  async function updateReminders(
    reminders: readonly ShownReminder[],
    { connection }: Job,
    steps: Steps,
  ): Promise<void> {
    if (!slack) return;
    for (const { channel, ts, date, balances, tasks } of reminders) {
      const message = reminderMessage({ at: clock(), connection, date, balances, tasks });
      await steps.read(`update the reminder of ${date}`, 'Slack chat.update', async () => {
        try {
          await slack.call('chat.update', { channel, ts, ...message }, z.object({}));
          return 'updated';
        } catch (error) {
          return String(error);
        }
      });
    }
  }

  /** What is known of the day before the time is logged. @throws {NotDone} to ask about more than 24 hours */
  async function dayOf(sheet: KnownTimesheet, entry: OfferedEntry, asked: AskedTime, steps: Steps): Promise<KnownDay> {
    const known = await steps.read('look at that day', 'timesheet', () => sheet.onDay(entry.date));
    ensureFits(entry, known, asked);
    return known;
  }
}

interface LoggedEntry extends Pick<OfferedEntry, 'task' | 'note' | 'date'> {
  time: TimeToLog;
  id: string | number | undefined;
  /** Before it. */
  day: KnownDay;
  /** The person's date when they are told. */
  now: string;
}

/** @param what the task, in the records */
function outcomeOf({ time, task, note, date, id, day, now }: LoggedEntry, what: string, as = ''): Outcome {
  const logged = `logged ${printDuration(time.minutes)} on`;
  const about = [{ kind: 'tasks', id: task.id } as const];
  const entry = id === undefined ? '' : `, as time entry ${id}`;
  // Comments on GitHub are public, so they show no names of tasks or people.
  if (time.by.in === 'github') return { text: `${logged} task ${task.id}${as}, ${date}${entry}`, about };
  const noted = note === undefined ? '' : `. Note: “${note}”`;
  const told = `${logged} ${task.name}${as}, ${dayInWords(date, now)}${totalInWords(day, time.minutes)}${noted}`;
  return { text: `${logged} ${what}${as}, ${date}${entry}`, told, about };
}

const hoursOf = ({ minutes }: TimeToLog) => Math.round((minutes / 60) * 10_000) / 10_000;
