import * as z from 'zod';
import { personOfTeam, TEAM_PEOPLE } from '../lib/automations/team-timesheets/draft.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import { type Job, newsOf } from '../lib/engine/record/job.ts';
import { openJournal } from '../lib/engine/record/journal.ts';
import { localTime } from '../lib/local-time.ts';
import type { Stores } from '../lib/runtime.ts';
import { lastReminderAt } from '../lib/timesheets/calendar.ts';
import { inOneLine } from '../local/terminal.ts';
import { lookUntil } from './wait-for-jobs.ts';

/** What the function timesheet-reminder returns. */
const returned = z.looseObject({
  jobs: z.array(z.object({ id: z.string(), summary: z.string(), repeat: z.boolean() })),
});

/** What came of a job. */
interface JobResult {
  jobId: string;
  status: Job['status'] | 'unknown';
  /** What was done, or why not, or what it waits for. */
  text: string;
  /** True if it ended without what it was for. */
  isNotDone?: boolean;
}

/** What came of the reminder of one person. */
interface PersonOutcome extends Partial<JobResult> {
  name: string;
  email: string;
  text: string;
  /** The conversation in Slack that got the message. */
  channel?: string | undefined;
}

/** What came of a team's reminders or summary. */
export interface TeamOutcome extends JobResult {
  summary: string;
  /** True if an earlier run had made the job already. */
  repeat: boolean;
  /** The members of the team. Empty for a summary. */
  people: PersonOutcome[];
}

/** Follows the jobs of a run of timesheet-reminder until they have ended or wait, for a limited time. */
export async function followTimesheets(
  result: unknown,
  { jobs, table }: Pick<Stores, 'jobs' | 'table'>,
  waitMs: number,
): Promise<TeamOutcome[]> {
  const { jobs: made } = returned.parse(result);
  const until = Date.now() + waitMs;

  // One that waits may do so for hours.
  const isUnderWay = ({ status }: Job) => status === 'queued' || status === 'running';
  const ended = (id: string) => lookUntil(jobs, id, isUnderWay, until);

  async function ofPerson({ name, email, jobId, why = '' }: z.output<typeof personOfTeam>): Promise<PersonOutcome> {
    if (jobId === undefined) return { name, email, text: `not reminded: ${why}` };
    const job = await ended(jobId);
    const sent = await kept(jobId, 'remind', z.object({ channel: z.string() }));
    return { name, email, ...outcomeOf(jobId, job), channel: sent?.channel };
  }

  async function kept<T>(jobId: string, step: string, schema: z.ZodType<T>): Promise<T | undefined> {
    const entry = (await openJournal(table, jobId, Date.now)).entry(step);
    return schema.safeParse(entry?.result).data;
  }

  const teams = [];
  for (const { id, summary, repeat } of made) {
    const outcome = outcomeOf(id, await ended(id));
    const members = (await kept(id, TEAM_PEOPLE, z.array(personOfTeam))) ?? [];
    const people = [];
    for (const member of members) people.push(await ofPerson(member));
    const unreached = people.filter(({ isNotDone }) => isNotDone).length;
    const text = unreached === 0 ? outcome.text : `${outcome.text}; ${unreached} of them could not be reminded`;
    teams.push({ ...outcome, text, summary, repeat, people });
  }
  return teams;
}

function outcomeOf(jobId: string, job: Job | undefined): JobResult {
  if (!job) return { jobId, status: 'unknown', text: 'there is no such job any more' };
  const { status, outcome = '', parked, dueAt } = job;
  const until = dueAt === undefined ? '' : ` until ${localTime(dueAt)}`;
  const texts: Record<Job['status'], string> = {
    queued: 'not started yet',
    running: 'still running',
    waiting: `waits${until}: ${newsOf(job)}`,
    succeeded: job.notDone ? `not reminded: ${outcome}` : outcome,
    parked: `parked: ${parked?.reason}`,
  };
  return { jobId, status, text: texts[status], ...(job.notDone && { isNotDone: true }) };
}

/** @returns lines for the terminal */
export function timesheetsInWords(teams: readonly TeamOutcome[], hasStandIn: boolean): string[] {
  const lines = teams.flatMap(({ summary, jobId, repeat, text, people }) => {
    const width = Math.max(0, ...people.map(({ name }) => name.length));
    return [
      `${summary}${repeat ? ' (an earlier run did this)' : ''}`,
      `  ${text}   (${jobId})`,
      ...people.map(({ name, text, channel }) => `  ${name.padEnd(width)}  ${text}${channel ? `   → ${channel}` : ''}`),
    ];
  });
  const wasSent = teams.some(({ people }) => people.some(({ channel }) => channel !== undefined));
  const more = hasStandIn && wasSent ? ['', 'The messages: npm run -s relay -- messages'] : [];
  return [...inOneLine(lines), ...more];
}

/** Why nothing is due at that time, and when something was. */
export function nothingDue({ timesheets }: Pick<RelayConfig, 'timesheets'>, at: number): string[] {
  const { teams = [] } = timesheets ?? {};
  if (teams.length === 0) return ['Nothing is due: relay.config.ts has no timesheets.'];
  return [
    `Nothing is due at ${localTime(at)}.`,
    ...teams.flatMap((team) => {
      const last = lastReminderAt(team, at);
      return [
        `  ${team.name}: reminders are due on its working days from ${team.remindAt} on, ${team.timeZone}`,
        ...(last === undefined
          ? []
          : [`    the last time: npm run -s relay -- run timesheet-reminder --at ${new Date(last).toISOString()}`]),
      ];
    }),
  ];
}
