import { TEAM_TIMESHEETS, type TeamDay } from '../automations/team-timesheets.ts';
import { type TeamWeek, TIMESHEET_SUMMARY } from '../automations/timesheet-summary.ts';
import type { RelayConfig } from '../config/schema.ts';
import type { Team } from '../config/timesheets.ts';
import { acceptEvent } from '../jobs/accept-event.ts';
import { type Job, type JobDraft, jobId } from '../jobs/job.ts';
import type { JobStore } from '../jobs/job-store.ts';
import type { JobQueue } from '../jobs/queue.ts';
import { dueReminder, dueSummary, reminderEndsAt } from '../timesheets/calendar.ts';

/**
 * Makes a job for each team and day whose reminders are due, and for each team and week whose summary is. A tick that
 * comes late, twice or not at all makes no difference: the same day and week are the same job.
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
    const date = dueReminder(team, now);
    const week = dueSummary(team, now);
    return [
      ...(date === undefined ? [] : [draft(team, dryRun, TEAM_TIMESHEETS, date, teamDay(team, dryRun, date, now))]),
      ...(week === undefined
        ? []
        : [
            draft(team, dryRun, TIMESHEET_SUMMARY, week.weekStart, {
              team: team.name,
              dryRun,
              ...week,
            } satisfies TeamWeek),
          ]),
    ];
  });
  const accepted = [];
  for (const one of drafts) accepted.push(await acceptEvent(one, stores));
  return accepted;
}

function teamDay(team: Team, dryRun: boolean, date: string, now: number): TeamDay {
  return { team: team.name, dryRun, date, dueForMs: reminderEndsAt(team, date) - now };
}

function draft({ name, connection }: Team, dryRun: boolean, automation: string, date: string, input: object): JobDraft {
  return {
    // What was only tried must not stand in the way of the real one.
    id: jobId(automation, name, date, ...(dryRun ? ['dry run'] : [])),
    automation,
    connection,
    lane: 'background',
    entity: `team-${name}`,
    summary: `${automation} of ${name}, ${date}`,
    input: { ...input },
  };
}
