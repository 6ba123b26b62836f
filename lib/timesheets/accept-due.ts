import { TEAM_TIMESHEETS, type TeamDay } from '../automations/team-timesheets.ts';
import { type TeamWeek, TIMESHEET_SUMMARY } from '../automations/timesheet-summary.ts';
import type { RelayConfig } from '../config/schema.ts';
import { acceptEvent } from '../jobs/accept-event.ts';
import { type Job, type JobDraft, jobId } from '../jobs/job.ts';
import type { JobStore } from '../jobs/job-store.ts';
import type { JobQueue } from '../jobs/queue.ts';
import { dueReminder, dueSummary } from './calendar.ts';
import type { Team } from './config.ts';

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
  const drafts = (timesheets?.teams ?? []).flatMap((team) => {
    const date = dueReminder(team, now);
    const week = dueSummary(team, now);
    return [
      ...(date === undefined ? [] : [draft(team, TEAM_TIMESHEETS, date, { team: team.name, date } satisfies TeamDay)]),
      ...(week === undefined
        ? []
        : [draft(team, TIMESHEET_SUMMARY, week.weekStart, { team: team.name, ...week } satisfies TeamWeek)]),
    ];
  });
  const accepted = [];
  for (const one of drafts) accepted.push(await acceptEvent(one, stores));
  return accepted;
}

function draft({ name, connection }: Team, automation: string, date: string, input: object): JobDraft {
  return {
    id: jobId(automation, name, date),
    automation,
    connection,
    lane: 'background',
    entity: `team-${name}`,
    summary: `${automation} of ${name}, ${date}`,
    input: { ...input },
  };
}
