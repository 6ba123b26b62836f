import type { RelayConfig } from '../config/schema.ts';
import { mondayOf } from '../dates.ts';
import { acceptEvent } from '../jobs/accept-event.ts';
import type { Automation } from '../jobs/automation.ts';
import { Park } from '../jobs/interruption.ts';
import { type JobDraft, jobId } from '../jobs/job.ts';
import type { JobStore } from '../jobs/job-store.ts';
import type { JobQueue } from '../jobs/queue.ts';
import { readTimesheets, type Timesheet } from '../timesheets/read-timesheets.ts';
import { findTeam, shortfallOf } from '../timesheets/shortfall.ts';
import { TIMESHEET_REMINDER, type TimesheetToRemindOf } from './timesheet-reminder.ts';

export const TEAM_TIMESHEETS = 'team-timesheets';

/** What a job of this automation knows. */
export interface TeamDay {
  team: string;
  /** Only say what would be sent; as of when the job was made, whatever relay.config.ts says since. */
  dryRun: boolean;
  date: string;
  /** For how long after the job was made its reminders are due. */
  dueForMs: number;
}

export interface TeamTimesheetsOptions {
  config: RelayConfig;
  jobs: JobStore;
  queue: JobQueue;
  clock: () => number;
}

/** Reads the timesheets of a team, and makes a job for each of its people who is to be reminded of that day. */
export function teamTimesheets({ config, jobs, queue, clock }: TeamTimesheetsOptions): Automation {
  return {
    name: TEAM_TIMESHEETS,
    async run(job, steps) {
      const { team: name, dryRun, date, dueForMs } = job.input as unknown as TeamDay;
      const { teams = [] } = config.timesheets ?? {};
      const team = findTeam(teams, name);
      if (!team) throw new Park(`relay.config.ts has no team '${name}' any more`);
      if (clock() - job.createdAt >= dueForMs) return 'nothing to do: the day is over';
      // What is read from now on is no older, however long the job waited before.
      const readAt = await steps.look('begin to read', 'clock', async () => clock());
      const isShort = (sheet: Timesheet) => shortfallOf(team, sheet, date, sheet.minutes) !== undefined;
      const range = { from: mondayOf(date), to: date };
      const { sheets, addressesOfNobody } = await readTimesheets(teams, team, range, isShort, steps);

      const short = sheets.filter(isShort);
      // Whoever has an entry that nobody can read may have logged all there is.
      const known = short.filter(({ unreadable }) => unreadable.length === 0);
      const stillDueForMs = dueForMs - (clock() - job.createdAt);
      for (const sheet of known) {
        const { unreadable, ...timesheet } = sheet;
        const input: TimesheetToRemindOf = {
          team: name,
          dryRun,
          date,
          timesheet,
          readAt,
          dueForMs: stillDueForMs,
        };
        const draft: JobDraft = {
          id: jobId(TIMESHEET_REMINDER, team.connection, sheet.userId, date, ...(dryRun ? ['dry run'] : [])),
          automation: TIMESHEET_REMINDER,
          connection: team.connection,
          lane: 'background',
          entity: `timesheet-${sheet.userId}`,
          summary: `timesheet of ${sheet.name}, ${date}`,
          input: { ...input },
        };
        await acceptEvent(draft, { jobs, queue });
      }
      const unreadable = sheets.filter((sheet) => sheet.unreadable.length > 0);
      const reasons = [...new Set(unreadable.flatMap((sheet) => sheet.unreadable))];
      const unread =
        unreadable.length === 0 ? '' : `; of ${unreadable.length} entries cannot be read: ${reasons.join(', ')}`;
      const unknown = Object.keys(addressesOfNobody);
      const nobody = unknown.length === 0 ? '' : `; no user of the service has the address at ${unknown.join(', ')}`;
      return `${known.length} of ${sheets.length} are to be reminded of ${date}${unread}${nobody}`;
    },
  };
}
