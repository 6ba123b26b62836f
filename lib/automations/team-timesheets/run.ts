import { datesBetween, mondayOf } from '../../dates.ts';
import { acceptEvent } from '../../engine/line/accept-event.ts';
import { NeedsOperator } from '../../engine/record/interruption.ts';
import type { JobDraft } from '../../engine/record/job.ts';
import { readCalendar } from '../../timesheets/absence-calendar.ts';
import { readTimesheets, type Timesheet } from '../../timesheets/read-timesheets.ts';
import { findTeam, shortfallOf, whyNoReminder } from '../../timesheets/shortfall.ts';
import { defineRun } from '../our-automation.ts';
import { reminderJobs, teamDayJobs } from './jobs.ts';

/** Reads a team's timesheets, and creates a job for each person who needs a reminder for that day. */
export const run = defineRun(
  teamDayJobs,
  async ({ team: name, dryRun, date, dueForMs }, steps, { job, config, jobs, queue, clock, absences, calendars }) => {
    const { teams = [] } = config.timesheets ?? {};
    const team = findTeam(teams, name);
    if (!team) throw new NeedsOperator(`relay.config.ts no longer has a team '${name}'`);
    if (clock() - job.createdAt >= dueForMs) return 'nothing to do: the day is over';
    // The time before the reading: the timesheets are at least this recent, however long the job waited before.
    const readAt = await steps.read('note the time', 'clock', async () => clock());
    const { away: noted } = await absences.noted(name, datesBetween(mondayOf(date), date));
    const isShort = (sheet: Timesheet) =>
      shortfallOf(team, sheet, date, sheet.minutes, noted.get(String(sheet.userId))) !== undefined;
    const range = { from: mondayOf(date), to: date };
    const { sheets, addressesOfNobody } = await readTimesheets(teams, team, range, isShort, steps);

    const calendar = await steps.read('read the calendar', 'calendar', () =>
      readCalendar(team, sheets, date, calendars),
    );
    const away = 'away' in calendar ? calendar.away : [];
    for (const userId of away) await absences.note(name, date, { userId });
    if ('unread' in calendar) await absences.note(name, date, calendar);
    const isAway = ({ userId }: Timesheet) => away.includes(String(userId));
    const short = sheets.filter((sheet) => isShort(sheet) && !isAway(sheet));
    // A person with an unreadable entry may have logged everything, so they get no reminder.
    const known = short.filter(({ unreadable }) => unreadable.length === 0);
    // Without those who are away, quiet or need not work that day.
    const due = sheets.filter((sheet) => !isAway(sheet) && whyNoReminder(team, sheet, date) === undefined);
    const stillDueForMs = dueForMs - (clock() - job.createdAt);
    const drafts = new Map<Timesheet, JobDraft>();
    for (const sheet of known) {
      const { unreadable, ...timesheet } = sheet;
      const draft = reminderJobs.draft({
        happened: [team.connection, sheet.userId, date, ...(dryRun ? ['dry run'] : [])],
        connection: team.connection,
        lane: 'background',
        entity: `timesheet-${sheet.userId}`,
        summary: `reminder for ${sheet.name}, ${date}`,
        input: { team: name, dryRun, date, timesheet, readAt, dueForMs: stillDueForMs },
        cause: { from: 'job', id: job.id },
      });
      drafts.set(sheet, draft);
    }
    await steps.read('see who is short', 'timesheets', async () =>
      sheets.map((sheet) => {
        const { name, email, unreadable } = sheet;
        const jobId = drafts.get(sheet)?.id;
        if (jobId !== undefined) return { name, email, jobId };
        if (isAway(sheet)) return { name, email, why: "away, by the team's calendar" };
        const isUnknown = isShort(sheet) && unreadable.length > 0;
        const why = isUnknown
          ? `entries cannot be read: ${unreadable.join(', ')}`
          : (whyNoReminder(team, sheet, date) ?? 'complete');
        return { name, email, why };
      }),
    );
    for (const draft of drafts.values()) await acceptEvent(draft, { jobs, queue });
    const unreadable = sheets.filter((sheet) => sheet.unreadable.length > 0);
    const reasons = [...new Set(unreadable.flatMap((sheet) => sheet.unreadable))];
    const unread =
      unreadable.length === 0 ? '' : `; of ${unreadable.length} entries cannot be read: ${reasons.join(', ')}`;
    const unknown = Object.keys(addressesOfNobody);
    const unmatched = unknown.length === 0 ? '' : `; no user of the service has the address at ${unknown.join(', ')}`;
    const absent =
      'unread' in calendar
        ? `; the team's calendar cannot be read: ${calendar.unread}`
        : away.length > 0
          ? `; ${away.length} away`
          : '';
    const leftOut = 'leftOut' in calendar ? `; of the team's calendar cannot be read: ${calendar.leftOut}` : '';
    return `${known.length} of ${due.length} have time missing for ${date}${unread}${unmatched}${absent}${leftOut}`;
  },
);
