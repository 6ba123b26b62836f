import { datesBetween, mondayOf } from '../../dates.ts';
import { NeedsOperator, NotDone } from '../../engine/record/interruption.ts';
import { slackUserOf } from '../../people/slack-people.ts';
import { slackMessage } from '../../platforms/slack/post-message.ts';
import { readTimesheet } from '../../timesheets/read-timesheets.ts';
import { missingIn, reminderMessage } from '../../timesheets/reminder-message.ts';
import { countedFrom, expectedOn, findTeam, shortfallOf } from '../../timesheets/shortfall.ts';
import { taskNameOf } from '../../timesheets/task-names.ts';
import { defineRun } from '../our-automation.ts';
import { reminderJobs } from '../team-timesheets/jobs.ts';

/** An older timesheet is read again, because the person may have filled it in. */
const FRESH_MS = 10 * 60_000;

/** Reminds a person of missing hours, once for each day. */
export const run = defineRun(reminderJobs, async (input, steps, { job, ...context }) => {
  const { config, slack, absences, knownTasks, timesheetOf, clock } = context;
  const { team: name, dryRun, date, timesheet, readAt, dueForMs } = input;
  const { teams = [] } = config.timesheets ?? {};
  const team = findTeam(teams, name);
  if (!team || !slack) throw new NeedsOperator(`relay.config.ts no longer has a team '${name}', or slack`);

  if (clock() - job.createdAt >= dueForMs) return 'nothing to do: the day is over';
  const range = { from: mondayOf(date), to: date };
  // The step's name contains the number of ten-minute periods, because the journal would otherwise return the earlier
  // reading.
  const reading = Math.floor((clock() - readAt) / FRESH_MS);
  const isFresh = reading === 0;
  const begunAt = isFresh ? readAt : await steps.read(`note the time ${reading}`, 'clock', async () => clock());
  const sheet = isFresh ? { ...timesheet, unreadable: [] } : await readTimesheet(timesheet, range, reading, steps);
  if (sheet.unreadable.length > 0) throw new NotDone(`entries cannot be read: ${sheet.unreadable.join(', ')}`);
  const dates = datesBetween(range.from, range.to);
  const away = (await absences.noted(name, dates)).away.get(String(sheet.userId));
  const balances = shortfallOf(team, sheet, date, sheet.minutes, away);
  if (!balances) return 'nothing to do: the timesheet is complete now';

  const userId = await slackUserOf(sheet.email, steps, context);
  if (userId === undefined) throw new NotDone("nobody in Slack has this user's e-mail address");
  if (await absences.isMuted(userId, date)) return 'nothing to do: muted for that day';
  const awayUntil = await absences.until(userId);
  if (awayUntil !== undefined && date <= awayUntil) {
    await absences.note(name, date, { userId: String(sheet.userId) });
    return `nothing to do: away until ${awayUntil}`;
  }
  const tasks = [];
  const { connection } = job;
  const known = timesheetOf({ connection, address: sheet.email });
  const { minutes, ids } = sheet;
  const expected = expectedOn(team, sheet, dates, away);
  const read = { at: begunAt, to: date, minutes, expected, ids, tasks: sheet.tasks };
  for (const { id, name } of await known.keep(read)) {
    tasks.push({ id, name: name ?? (await taskNameOf(id, connection, steps, context)) });
  }
  await knownTasks.learn(
    connection,
    tasks.filter(({ id, name }) => name !== id),
  );
  const message = reminderMessage({ at: clock(), connection, date, balances, tasks });
  const missing = `${missingIn(balances, date)} missing`;
  if (dryRun) {
    await steps.skip('remind', 'Slack message', 'relay.config.ts said dryRun');
    return `dry run: would send ${sheet.name}: ${missing}`;
  }
  const sent = await steps.reply('remind', slackMessage({ userId }, job.id, message, slack));
  if ('leftOut' in sent) throw new NotDone(sent.leftOut);
  const { channel, ts } = sent;
  await known.keepReminder({ channel, ts, date, from: countedFrom(team, date), tasks });
  return `sent: ${missing}`;
});
