import * as z from 'zod/mini';
import { mondayOf } from '../dates.ts';
import { acceptEvent } from '../jobs/accept-event.ts';
import { type Automation, defineAutomation, defineJobs } from '../jobs/automation.ts';
import { NeedsOperator } from '../jobs/interruption.ts';
import { readTimesheets, type Timesheet } from '../timesheets/read-timesheets.ts';
import { findTeam, shortfallOf } from '../timesheets/shortfall.ts';
import { reminderJobs } from './timesheet-reminder.ts';
import type { Tools } from './tools.ts';

/** A team and a day on which people are to be reminded. */
export const teamDayJobs = defineJobs(
  'team-timesheets',
  z.object({
    team: z.string(),
    /** Only say what would be sent; as of when the job was made, whatever relay.config.ts says since. */
    dryRun: z.boolean(),
    date: z.string(),
    /** For how long after the job was made its reminders are due. */
    dueForMs: z.number(),
  }),
);

/** Reads the timesheets of a team, and makes a job for each of its people who is to be reminded of that day. */
export function teamTimesheets({ config, jobs, queue, clock }: Tools): Automation {
  return defineAutomation(teamDayJobs, async ({ team: name, dryRun, date, dueForMs }, job, steps) => {
    const { teams = [] } = config.timesheets ?? {};
    const team = findTeam(teams, name);
    if (!team) throw new NeedsOperator(`relay.config.ts has no team '${name}' any more`);
    if (clock() - job.createdAt >= dueForMs) return 'nothing to do: the day is over';
    // What is read from now on is no older, however long the job waited before.
    const readAt = await steps.read('begin to read', 'clock', async () => clock());
    const isShort = (sheet: Timesheet) => shortfallOf(team, sheet, date, sheet.minutes) !== undefined;
    const range = { from: mondayOf(date), to: date };
    const { sheets, addressesOfNobody } = await readTimesheets(teams, team, range, isShort, steps);

    const short = sheets.filter(isShort);
    // Whoever has an entry that nobody can read may have logged all there is.
    const known = short.filter(({ unreadable }) => unreadable.length === 0);
    const stillDueForMs = dueForMs - (clock() - job.createdAt);
    for (const sheet of known) {
      const { unreadable, ...timesheet } = sheet;
      const draft = reminderJobs.draft({
        happened: [team.connection, sheet.userId, date, ...(dryRun ? ['dry run'] : [])],
        connection: team.connection,
        lane: 'background',
        entity: `timesheet-${sheet.userId}`,
        summary: `timesheet of ${sheet.name}, ${date}`,
        input: { team: name, dryRun, date, timesheet, readAt, dueForMs: stillDueForMs },
      });
      await acceptEvent(draft, { jobs, queue });
    }
    const unreadable = sheets.filter((sheet) => sheet.unreadable.length > 0);
    const reasons = [...new Set(unreadable.flatMap((sheet) => sheet.unreadable))];
    const unread =
      unreadable.length === 0 ? '' : `; of ${unreadable.length} entries cannot be read: ${reasons.join(', ')}`;
    const unknown = Object.keys(addressesOfNobody);
    const nobody = unknown.length === 0 ? '' : `; no user of the service has the address at ${unknown.join(', ')}`;
    return `${known.length} of ${sheets.length} are to be reminded of ${date}${unread}${nobody}`;
  });
}
