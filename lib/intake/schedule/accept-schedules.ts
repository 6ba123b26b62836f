import { customDrafts } from '../../automations/custom/custom-drafts.ts';
import { timesheetsDue } from '../../automations/team-timesheets/on.ts';
import type { RelayConfig } from '../../config/schema.ts';
import { DAY_MS } from '../../dates.ts';
import { type AcceptTakenOptions, acceptDated, type Taken } from '../../engine/line/accept-taken.ts';
import type { Job } from '../../engine/record/job.ts';
import { keys } from '../../state/table/keys.ts';
import { setFields } from '../../state/table/table.ts';
import { timesOf } from '../../triggers/cron.ts';
import { type CustomAutomations, type CustomOf, customOf } from '../../triggers/custom-automation.ts';
import { schedule } from '../../triggers/schedule.ts';

interface ScheduleOptions extends AcceptTakenOptions {
  config: RelayConfig;
  custom: CustomAutomations;
}

type Accepted = { job: Job; repeat: boolean };

/** How far a tick may be ahead of the table's clock. A later tick comes from a person's `--at`. */
const MOST_AHEAD_MS = 60_000;

/**
 * Accepts the jobs that are due. Custom schedules come last, so that their mistakes cannot affect reminders.
 * @param now the time of the tick, in epoch milliseconds
 */
export async function acceptDue(options: ScheduleOptions, now: number): Promise<Accepted[]> {
  const cause = { from: 'schedule', id: new Date(now).toISOString() } as const;
  const due = timesheetsDue(options.config, now).map((draft) => ({ draft: { ...draft, cause } }));
  return [...(await accept(due, options)), ...(await acceptCustomSchedules(options, now))];
}

/**
 * Accepts a job for each time that a custom schedule was due since the previous tick, up to 24 hours back: a tick may
 * be missed, a stage may be stopped, and a machine may sleep. A file starts with its first tick, and again when its
 * times change. The handled times are written once the jobs are stored. Two simultaneous ticks may write them in any
 * order, because the same time always gives the same job.
 *
 * @param now the time of the tick, in epoch milliseconds
 */
async function acceptCustomSchedules(options: ScheduleOptions, now: number): Promise<Accepted[]> {
  const { custom, table, clock } = options;
  const key = keys.customSchedules();
  const item = await table.get(key);
  const schedules = customOf(custom, 'schedule');
  if ((!item && schedules.length === 0) || now > clock() + MOST_AHEAD_MS) return [];
  const handled = (item?.until ?? {}) as Readonly<Record<string, number>>;
  const until: Record<string, number> = {};
  /** When each schedule last ran, for people. */
  const last = { ...(item?.last as Readonly<Record<string, number>> | undefined) };
  const accepted = await Promise.all(
    schedules.map(async (one) => {
      const times = `${one.name} ${one.cron} ${one.timeZone}`;
      const from = handled[times] ?? now - 1;
      until[times] = Math.max(from, now);
      const made: Accepted[] = [];
      for (const at of timesOf(one.cron, one.timeZone, Math.max(from, now - DAY_MS), now)) {
        made.push(...(await acceptTime(one, at, options)));
        last[one.name] = clock();
      }
      return made;
    }),
  );
  await table.put({ ...key, until, last });
  return accepted.flat();
}

/**
 * Accepts a schedule's job for one time, due or not, and notes for people that it ran now.
 * @throws {Error} for an unknown schedule, and for a time so long ago that its job may already have run
 */
export async function acceptCustomSchedule(name: string, options: ScheduleOptions, at: number): Promise<Accepted[]> {
  const { custom, table, clock } = options;
  const found = customOf(custom, 'schedule').find((one) => one.name === name);
  if (!found) throw new Error(`there is no schedule '${name}'`);
  const accepted = await acceptTime(found, at, options);
  const key = keys.customSchedules();
  const { last } = (await table.get(key)) ?? {};
  // A tick may write the times that it has handled meanwhile.
  await table.update(key, setFields({ last: { ...Object(last), [name]: clock() } }));
  return accepted;
}

async function acceptTime(
  { name, cron, timeZone, connection }: CustomOf<'schedule'>,
  time: number,
  options: ScheduleOptions,
): Promise<Accepted[]> {
  const at = new Date(time).toISOString();
  const there = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(time);
  const input = { date: there.slice(0, '2026-11-23'.length), at };
  const drafts = customDrafts(
    name,
    schedule(cron, timeZone),
    { happened: [at], at, input },
    {
      connection: connection ?? Object.keys(options.config.connections)[0] ?? '',
      entity: name,
      summary: `as of ${there} ${timeZone}`,
      cause: { from: 'schedule', id: at },
    },
    time,
  );
  return accept(drafts, options);
}

/** @throws {Error} if there is no job */
async function accept(taken: Taken, options: ScheduleOptions): Promise<Accepted[]> {
  if (typeof taken === 'string') throw new Error(taken);
  const accepted: Accepted[] = [];
  for (const one of taken) {
    const made = await acceptDated(one, options);
    if (typeof made === 'string') throw new Error(`${one.draft.summary}: ${made}`);
    accepted.push(made);
  }
  return accepted;
}
