import { printDuration } from '../../commands/duration.ts';
import { dateIn } from '../../dates.ts';
import { ifRefused } from '../../engine/record/interruption.ts';
import type { JobSteps } from '../../engine/run/job-steps.ts';
import type { Outcome } from '../../engine/run/tell-person.ts';
import { updateIfPossible } from '../../platforms/slack/post-message.ts';
import { createTimelog } from '../../service/partner/operations/timelogs.ts';
import type { KnownDay, ShownReminder } from '../../timesheets/known-timesheets.ts';
import { reminderMessage } from '../../timesheets/reminder-message.ts';
import type { Task } from '../../timesheets/task-names.ts';
import type { Mine } from '../as-person.ts';
import { defineRun, type RunContext } from '../our-automation.ts';
import { type TimeToLog, timeJobs } from './command.ts';
import { dayInWords, ensureFits, totalInWords } from './day-total.ts';
import { type TaskSource, tasksOfKey, tasksOfTool } from './find-task.ts';
import type { OfferedEntry } from './offer-blocks.ts';
import { dateAsked, whatToLog } from './what-to-log.ts';

/** How to log one person's time: with the connection's key, or with a tool. */
interface Way {
  timeZone: string;
  /** Identifies their timesheet. */
  address: string;
  tasks: TaskSource;
  /** @returns the entry's id, if known, and a check of the created entry */
  write(
    step: string,
    entry: WrittenEntry,
  ): Promise<{ id: string | number | undefined; verify?: (() => Promise<void>) | undefined }>;
  /** Names the task and the person, for the records. */
  whose(task: Task): string;
}

interface WrittenEntry extends Pick<OfferedEntry, 'task' | 'note' | 'date'> {
  hours: number;
  marker: string;
}

/** Logs time for the person who asked, never for anyone else. */
export const run = defineRun(timeJobs, async (time, steps, context) => {
  const { job, config, asPerson, markers, timesheetOf, clock } = context;
  const { languages = [], command: slash = '' } = config.slack ?? {};
  const mine = await asPerson('log', time.by, job, steps);
  const { timeZone, address, tasks, write, whose } = await (mine
    ? asThem(mine, time, steps, context)
    : withKey(time, steps, context));
  const isPublic = time.by.in === 'github';
  const { mcp } = config.connections[job.connection] ?? {};
  const asked = { time, job, today: dateAsked(job, timeZone), languages, slash, mcp };
  const { task, note, date } = await whatToLog(asked, tasks).catch(ifRefused('this search', isPublic));
  const timesheet = timesheetOf({ connection: job.connection, address });
  const day = await steps.read('read that day', 'timesheet', () => timesheet.onDay(date));
  ensureFits({ task, note, date }, day, asked);
  // If the call was made as the person, only they may read the task's name.
  const entitle = (what: string) => mine ?? steps.entitle(`${what} ${printDuration(time.minutes)} on ${task.name}`);
  entitle('Log');
  const marker = await markers.of('time entry', job.id);
  const entry = { task, note, date, hours: Math.round((time.minutes / 60) * 10_000) / 10_000, marker };
  const { id, verify } = await write('log the time', entry).catch(ifRefused('this time entry', isPublic));
  const noted = { jobId: job.id, id: id === undefined ? id : String(id), date, minutes: time.minutes };
  const shown = await timesheet.add(noted);
  await verify?.();
  entitle('Logged');
  await updateReminders(shown, steps, context);
  const logged = { time, task, note, date, id, day, now: dateIn(timeZone, clock()) };
  return outcomeOf(logged, whose(task), mine && ' in your name');
});

async function withKey({ by }: TimeToLog, steps: JobSteps, context: RunContext): Promise<Way> {
  const { job, people, knownTasks, firstEntries } = context;
  const user = await people.userOf(by, job.connection, steps);
  let tasks: ReturnType<typeof knownTasks.get> | undefined;
  const known = () => (tasks ??= knownTasks.get(job.connection));
  return {
    timeZone: user.timeZone,
    address: user.email,
    tasks: tasksOfKey(steps, known),
    async write(step, { task, date, hours, note, marker }) {
      await knownTasks.learn(job.connection, [task], await known());
      const first = await firstEntries.claim(job);
      const marked = note ? `${note} ${marker}` : marker;
      const entry = { task_id: task.id, user_id: user.userId, date, hours, note: marked };
      const { id } = await steps.create(step, createTimelog, entry, { marker });
      return { id, verify: first ? () => firstEntries.verify(job, steps, { id, ...entry }) : undefined };
    },
    whose: ({ name }) => `${name} for ${user.name}`,
  };
}

async function asThem(
  { uses, tools, holder }: Mine<'log'>,
  { by, minutes }: TimeToLog,
  steps: JobSteps,
  { people }: RunContext,
): Promise<Way> {
  return {
    timeZone: await people.timeZoneOf(by, steps),
    address: (await people.addressOf(by, steps)) ?? `${holder.in}#${holder.id}`,
    tasks: tasksOfTool(tools, uses.find),
    write: async (step, { task, ...entry }) => ({
      id: await tools.write(step, uses.own, { ...entry, task: task.id, minutes }, 'this was logged'),
    }),
    whose: ({ name }) => name,
  };
}

/**
 * Updates the missing hours in a person's reminders. The time is already logged, so a failure of Slack neither ends nor
 * repeats the job.
 */
async function updateReminders(
  reminders: readonly ShownReminder[],
  steps: JobSteps,
  { job: { connection }, slack, clock }: RunContext,
): Promise<void> {
  if (!slack) return;
  for (const { channel, ts, date, balances, tasks } of reminders) {
    const message = reminderMessage({ at: clock(), connection, date, balances, tasks });
    await steps.read(`update the reminder of ${date}`, 'Slack chat.update', () =>
      updateIfPossible({ channel, ts }, message, slack),
    );
  }
}

interface LoggedEntry extends Pick<OfferedEntry, 'task' | 'note' | 'date'> {
  time: TimeToLog;
  id: string | number | undefined;
  /** The state before this entry. */
  day: KnownDay;
  /** The date in the person's time zone when they get the answer. */
  now: string;
}

/** @param what names the task, for the records */
function outcomeOf({ time, task, note, date, id, day, now }: LoggedEntry, what: string, as = ''): Outcome {
  const logged = `logged ${printDuration(time.minutes)} on`;
  const about = [{ kind: 'tasks', id: task.id } as const];
  const entry = id === undefined ? '' : `, as time entry ${id}`;
  // Comments on GitHub are public, so they show no names of tasks or people.
  if (time.by.in === 'github') return { text: `${logged} task ${task.id}${as}, ${date}${entry}`, about, id };
  const noted = note === undefined ? '' : `. Note: “${note}”`;
  const called = dayInWords(date, now);
  const when = called === date ? `on ${date}` : called;
  const inSlack = `${logged} ${task.name}${as} ${when}${totalInWords(day, time.minutes, when)}${noted}`;
  return { text: `${logged} ${what}${as}, ${date}${entry}`, inSlack, about, id };
}
