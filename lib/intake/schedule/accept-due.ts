import { summaryJobs, teamDayJobs } from '../../automations/team-timesheets/draft.ts';
import type { RelayConfig } from '../../config/schema.ts';
import type { Team } from '../../config/timesheets.ts';
import { acceptEvent } from '../../engine/line/accept-event.ts';
import type { JobQueue } from '../../engine/line/queue.ts';
import type { Job } from '../../engine/record/job.ts';
import type { JobStore } from '../../engine/record/job-store.ts';
import { dueReminder, dueSummary, reminderEndsAt } from '../../timesheets/calendar.ts';

/**
 * Makes a job for each team and day with due reminders, and for each team and week with a due summary. A late, repeated
 * or missed tick makes no difference, because the same day or week always gives the same job.
 *
 * @param now epoch milliseconds
 */
export async function acceptDueTimesheets(
  { timesheets }: RelayConfig,
  stores: { jobs: JobStore; queue: JobQueue },
  now: number,
): Promise<{ job: Job; repeat: boolean }[]> {
  const { teams = [], dryRun = false } = timesheets ?? {};
  const drafts = teams.flatMap((team) => {
    const { name } = team;
    const date = dueReminder(team, now);
    const week = dueSummary(team, now);
    const reminders = date !== undefined && {
      ...eventOf(team, dryRun, teamDayJobs.name, date),
      input: { team: name, dryRun, date, dueForMs: reminderEndsAt(team, date) - now },
    };
    const summary = week !== undefined && {
      ...eventOf(team, dryRun, summaryJobs.name, week.weekStart),
      input: { team: name, dryRun, ...week },
    };
    return [...(reminders ? [teamDayJobs.draft(reminders)] : []), ...(summary ? [summaryJobs.draft(summary)] : [])];
  });
  const cause = { from: 'schedule', id: new Date(now).toISOString() } as const;
  const accepted = [];
  for (const draft of drafts) accepted.push(await acceptEvent({ ...draft, cause }, stores));
  return accepted;
}

function eventOf({ name, connection }: Team, dryRun: boolean, automation: string, date: string) {
  return {
    // A dry run must not block the real one.
    happened: [name, date, ...(dryRun ? ['dry run'] : [])],
    connection,
    lane: 'background' as const,
    entity: `team-${name}`,
    summary: `${automation} of ${name}, ${date}`,
  };
}
