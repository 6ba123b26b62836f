import type { RelayConfig } from '../../config/schema.ts';
import type { Team } from '../../config/timesheets.ts';
import type { JobDraft } from '../../engine/record/job.ts';
import { dueReminder, dueSummary, reminderEndsAt } from '../../timesheets/calendar.ts';
import { summaryJobs, teamDayJobs } from './jobs.ts';

/**
 * Drafts a job for each team and day with due reminders, and for each team and week with a due summary. The same day or
 * week always gives the same job, so late, repeated and missed ticks make no difference.
 *
 * @param now epoch milliseconds
 */
export function timesheetsDue({ timesheets }: RelayConfig, now: number): JobDraft[] {
  const { teams = [], dryRun = false } = timesheets ?? {};
  return teams.flatMap((team) => {
    const { name } = team;
    const date = dueReminder(team, now);
    const week = dueSummary(team, now);
    const drafts: JobDraft[] = [];
    if (date !== undefined) {
      const input = { team: name, dryRun, date, dueForMs: reminderEndsAt(team, date) - now };
      drafts.push(teamDayJobs.draft({ ...eventOf(team, dryRun, teamDayJobs.name, date), input }));
    }
    if (week !== undefined) {
      const input = { team: name, dryRun, ...week };
      drafts.push(summaryJobs.draft({ ...eventOf(team, dryRun, summaryJobs.name, week.weekStart), input }));
    }
    return drafts;
  });
}

function eventOf({ name, connection }: Team, dryRun: boolean, automation: string, date: string) {
  return {
    // A dry run must not prevent the real run.
    happened: [name, date, ...(dryRun ? ['dry run'] : [])],
    connection,
    lane: 'background' as const,
    entity: `team-${name}`,
    summary: `${automation} of ${name}, ${date}`,
  };
}
