import { callOf } from '../../config/template.ts';
import { recordsAt, saidIn, valueAt } from '../../config/tool-answer.ts';
import { addDays, dateIn, datesBetween, mondayOf } from '../../dates.ts';
import { NotDone } from '../../engine/record/interruption.ts';
import type { JobSteps } from '../../engine/run/job-steps.ts';
import type { Outcome } from '../../engine/run/tell-person.ts';
import type { Person, ServiceUser } from '../../people/people.ts';
import type { RestOfDay } from '../../platforms/slack/views/views.ts';
import { type MyDay, myTimeMessage } from '../../timesheets/my-time-message.ts';
import { type Range, readEntries } from '../../timesheets/read-timesheets.ts';
import { stands } from '../../timesheets/reminder-message.ts';
import { balancesOn, expectedOn, type MinutesByDate, teamOf } from '../../timesheets/shortfall.ts';
import { taskNameOf } from '../../timesheets/task-names.ts';
import { dateOf, readEntry } from '../../timesheets/time-entry.ts';
import type { Mine } from '../as-person.ts';
import { mayBeCut } from '../log-time/find-task.ts';
import { defineRun, type RunContext } from '../our-automation.ts';
import { myTimeJobs } from './command.ts';

/** A time entry, with the name of its task. */
interface MyEntry {
  date: string;
  minutes: number;
  name: string;
}

/** The expected time of a person with a team, and the days on which they are away. */
interface Due {
  expected?: MinutesByDate;
  away: readonly string[];
  /** True if each day counts alone, so that time on other days does not make up for it. */
  isByDay?: boolean;
}

/** Each name costs a call. Other tasks are shown with their ids until the next time. */
const MOST_NAMES_ASKED = 10;
const MAY_BE_CUT = 'The service shows no more entries than these, so some of your time may be missing here.';

const weekOf = (date: string): Range => ({ from: mondayOf(date), to: addDays(mondayOf(date), 6) });

interface Asked extends Pick<RestOfDay, 'connection' | 'at'>, Pick<RunContext, 'people' | 'config' | 'absences'> {
  by: Person;
  period: 'today' | 'week';
  steps: JobSteps;
}

/** A person's time in one week. */
interface MyTime {
  today: string;
  entries: readonly MyEntry[];
  due: Due;
  /** Other tasks on which to log time. */
  tasks: RestOfDay['tasks'];
  note?: string | undefined;
}

/** Shows people what they logged today or this week, and what is missing. */
export const run = defineRun(myTimeJobs, async ({ by, period }, steps, context) => {
  const { job, asPerson, clock } = context;
  const { connection } = job;
  const mine = await asPerson('week', by, job, steps);
  const at = await steps.read('note the time', 'clock', async () => clock());
  const asked = { ...context, by, period, connection, at, steps };
  const read = await (mine ? asThem(mine, asked) : withKey(asked, context));
  if ('said' in read) return { text: `your time: ${read.said}` };
  return show(period, read, { connection, at });
});

async function withKey(asked: Asked, context: RunContext): Promise<MyTime> {
  const { by, period, connection, at, steps } = asked;
  const { people, knownTasks, timesheetOf } = context;
  const user = await people.userOf(by, connection, steps);
  const today = dateIn(user.timeZone, at);
  const range = weekOf(today);
  const read = await readEntries(user.userId, range, steps);
  if (!read)
    throw new NotDone(
      'the service also lists the time of others, and Partner Relay cannot see which is yours. Look in the service',
    );
  const { minutes, ids, tasks: worked } = read;
  const entries = ensureRead(read, asked);
  const due = await dueOf(today, asked, user);
  const about = { at, to: range.to, minutes, ids, tasks: worked, expected: due.expected };
  const recent = await timesheetOf({ connection, address: user.email }).keep(about);
  const known = await knownTasks.get(connection);
  const names = new Map(known.map(({ id, name }) => [id, name]));
  const listed = period === 'week' ? entries : entries.filter(({ date }) => date === today);
  const shown = [...recent, ...listed.flatMap(({ task }) => task ?? [])];
  let namesAsked = 0;
  for (const { id, name } of shown) {
    if (name !== undefined) names.set(id, name);
    else if (!names.has(id) && namesAsked++ < MOST_NAMES_ASKED)
      names.set(id, await taskNameOf(id, connection, steps, context));
  }
  const named = shown.map(({ id }) => ({ id, name: names.get(id) ?? id }));
  const learned = named.filter(({ id, name }) => name !== id);
  await knownTasks.learn(connection, learned, known);
  const entriesNamed = entries.map(({ date = '', minutes = 0, task }): MyEntry => {
    return { date, minutes, name: task ? (names.get(task.id) ?? task.id) : 'without a task' };
  });
  return { today, entries: entriesNamed, due, tasks: named.slice(0, recent.length) };
}

/** Reads the time with the person's account, so only what they can see. */
async function asThem({ uses, tools }: Mine<'week'>, asked: Asked): Promise<MyTime | { said: string }> {
  const { by, at, steps, people } = asked;
  const today = dateIn(await people.timeZoneOf(by, steps), at);
  const { rows, date, hours, minutes, text } = uses.own;
  const read = await tools.read('list the time', callOf(uses.own, { ...weekOf(today) }), (answer) => {
    const records = date === undefined ? undefined : recordsAt(answer, rows);
    if (!records) return { said: saidIn(answer) };
    const read = records.map((row) => {
      const at = (path: string | undefined) => (path === undefined ? undefined : valueAt(row, path));
      const entry = readEntry({ user_id: 'me', date: at(date), hours: at(hours), minutes: at(minutes) });
      return { ...entry, name: String(at(text) ?? 'without a task') };
    });
    const entries = read.flatMap((one) => ('unreadable' in one ? [] : [one]));
    return { entries, unreadable: read.flatMap((one) => ('unreadable' in one ? one.unreadable : [])) };
  });
  if (read.said !== undefined) return read;
  const due = await dueOf(today, asked);
  const note = mayBeCut(read.entries) ? MAY_BE_CUT : undefined;
  return { today, entries: ensureRead(read, asked), due, tasks: [], note };
}

/** @throws {NotDone} if an entry's hours cannot be read, because then the missing time is unknown */
function ensureRead<Entry>(
  { entries, unreadable }: { entries: readonly Entry[]; unreadable: readonly string[] },
  { config }: Asked,
) {
  if (unreadable.length === 0) return entries;
  const reasons = [...new Set(unreadable)].join(', ');
  throw new NotDone(`${unreadable.length} of your time entries cannot be read: ${reasons}. Tell ${config.contact}`);
}

async function dueOf(today: string, asked: Asked, user?: ServiceUser): Promise<Due> {
  const { by, connection, steps, config, people, absences } = asked;
  const { teams = [] } = config.timesheets ?? {};
  const email = teams.length > 0 ? (user?.email ?? (await people.addressOf(by, steps))) : undefined;
  const team = email === undefined ? undefined : teamOf(teams, connection, email);
  if (!team || email === undefined) return { away: [] };
  const { from, to } = weekOf(today);
  const noted = user && (await absences.noted(team.name, datesBetween(from, today))).away.get(String(user.userId));
  const until = (await absences.until(by.id)) ?? '';
  const away = [...(noted ?? []), ...datesBetween(today, to).filter((date) => date <= until)];
  const expected = expectedOn(team, { email, createdOn: dateOf(user?.created) }, datesBetween(from, to), away);
  return { expected, away, isByDay: team.remindOf === 'day' };
}

function show(
  period: 'today' | 'week',
  { today, entries, due: { expected = {}, away, isByDay = false }, tasks, note }: MyTime,
  asked: Pick<RestOfDay, 'connection' | 'at'>,
): Outcome {
  const { from, to } = weekOf(today);
  const sumOf = (some: readonly MyEntry[]) => some.reduce((sum, { minutes }) => sum + minutes, 0);
  const byDay = Map.groupBy(entries, ({ date }) => date);
  const logged = Object.fromEntries([...byDay].map(([date, some]) => [date, sumOf(some)]));
  const week = balancesOn(datesBetween(from, today), expected, logged);
  const dayOf = (date: string): MyDay => {
    const byTask = [...Map.groupBy(byDay.get(date) ?? [], ({ name }) => name)];
    const tasks = new Map(byTask.map(([name, some]) => [name, sumOf(some)] as const).sort((a, b) => b[1] - a[1]));
    const alone = balancesOn([date], expected, logged).sum;
    const balance = isByDay ? alone : week.days[date];
    // On future days, nothing is missing yet.
    return {
      date,
      balance: date > today || !balance ? { ...alone, missing: 0 } : balance,
      isAway: away.includes(date),
      tasks,
    };
  };
  const isShown = ({ date, balance, isAway }: MyDay) =>
    date === today || balance.logged > 0 || (date < today && (balance.expected > 0 || isAway));
  const days = period === 'today' ? [dayOf(today)] : datesBetween(from, to).map(dayOf).filter(isShown);
  const { blocks } = myTimeMessage(days, week.sum, { ...asked, tasks }, note);
  return { text: `${period}: ${stands(period === 'today' ? dayOf(today).balance : week.sum)}`, blocks };
}
