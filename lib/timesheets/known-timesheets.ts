import * as z from 'zod/mini';
import { datesBetween, mondayOf } from '../dates.ts';
import { digest } from '../digest.ts';
import { restOfDay } from '../platforms/slack/views/views.ts';
import { changeItem } from '../state/table/counted-item.ts';
import { expiry, isExpired } from '../state/table/expiry.ts';
import { keys } from '../state/table/keys.ts';
import type { Item, Table } from '../state/table/table.ts';
import { storedTime } from '../state/table/unreadable-item.ts';
import { comparableAddress } from '../text.ts';
import type { Timesheet } from './read-timesheets.ts';
import { type Balances, balancesOn, type MinutesByDate } from './shortfall.ts';

/** A person, identified by their address in the service, or otherwise by a linked account. */
export interface Logger {
  connection: string;
  address: string;
}

/** The time logged on a day. */
export interface KnownDay {
  minutes: number;
  /** True if this is all logged time; otherwise it is only what the relay has logged. */
  isAll: boolean;
  /** The person's expected time, if their team is known. */
  expected?: number | undefined;
}

/** A reading is fresh for this time, in which people rarely log elsewhere. */
const FRESH_MS = 10 * 60_000;
const MOST_ENTRIES = 100;
/** People press the buttons of a reminder even days later. */
const MOST_WEEKS = 3;
const MOST_REMINDERS = 15;

const text = z.string();
const minutesByDate = z.record(text, z.number());
const reading = z.object({
  at: storedTime,
  /** The last day. The first day is the Monday. */
  to: text,
  minutes: minutesByDate,
  expected: z.optional(minutesByDate),
  /** The ids of the read entries, because a job may record its entry long after the service has it. */
  ids: z.array(text),
});
const sentReminder = z.object({
  channel: text,
  ts: text,
  date: text,
  /** The first of the days that count together with the date. */
  from: text,
  tasks: restOfDay.shape.tasks,
});
const shape = z.object({
  /** The tasks of the last reading that had any. */
  tasks: z.array(z.object({ id: text, name: z.optional(text) })),
  /** The last reading of each recent week, keyed by its Monday. */
  weeks: z.record(text, reading),
  /** The entries that the relay has logged, newest last. */
  entries: z.array(z.object({ jobId: text, id: z.optional(text), at: storedTime, date: text, minutes: z.number() })),
  reminders: z.array(sentReminder),
});
type Known = z.output<typeof shape>;
type Entry = Omit<Known['entries'][number], 'at'>;
type SentReminder = z.output<typeof sentReminder>;

/** A reminder with the currently missing time. */
export type ShownReminder = SentReminder & { balances: Balances };

/** A fresh reading of a timesheet, with the expected time for its days if the person has a team. */
interface ReadTimesheet extends Pick<Timesheet, 'minutes' | 'tasks' | 'ids'> {
  at: number;
  to: string;
  expected: MinutesByDate | undefined;
}

/**
 * A person's time as known without a call: the last reading of each week, the entries that the relay has logged since,
 * and the reminders that show them. A job that looks at a day reads the item once.
 */
export const createKnownTimesheets = (table: Table, clock: () => number) => (of: Logger) => {
  const key = keys.timesheet(of.connection, digest(comparableAddress(of.address)));
  let seen: { item: Item | undefined } | undefined;
  const nothing: Known = { tasks: [], weeks: {}, entries: [], reminders: [] };
  const change = (transition: (known: Known) => Known) => {
    const last = seen;
    seen = undefined;
    const dated = (known = nothing) => ({ ...transition(known), expiresAt: expiry(clock()) });
    return changeItem(table, key, shape, dated, last);
  };

  return {
    /** @returns the person's tasks; while they have logged no time in the week, the tasks of an earlier reading */
    async keep({ tasks, ...reading }: ReadTimesheet): Promise<Known['tasks']> {
      const kept = await change((known) => {
        const weeks = Object.entries({ ...known.weeks, [mondayOf(reading.to)]: reading }).sort();
        const all = { ...known, weeks: Object.fromEntries(weeks.slice(-MOST_WEEKS)) };
        return tasks.length > 0 ? { ...all, tasks } : all;
      });
      return kept?.tasks ?? tasks;
    },
    /** Stores a reminder, which shows the last reading. */
    async keepReminder(sent: SentReminder): Promise<void> {
      await change(({ reminders, ...known }) => ({
        ...known,
        reminders: [...reminders.filter(({ ts }) => ts !== sent.ts), sent].slice(-MOST_REMINDERS),
      }));
    },
    /**
     * Stores an entry that the relay has logged, once for each job.
     * @returns the reminders that show that day, with the currently missing time
     */
    async add(entry: Entry): Promise<ShownReminder[]> {
      const known = await change(({ entries, ...known }) => {
        const isKnown = entries.some(({ jobId }) => jobId === entry.jobId);
        return { ...known, entries: isKnown ? entries : [...entries, { ...entry, at: clock() }].slice(-MOST_ENTRIES) };
      });
      if (!known) return [];
      const shown = known.reminders.filter(({ from, date }) => from <= entry.date && entry.date <= date);
      return shown.flatMap((reminder) => {
        const { expected } = known.weeks[mondayOf(reminder.date)] ?? {};
        if (!expected) return [];
        const dates = datesBetween(reminder.from, reminder.date);
        const minutes = Object.fromEntries(dates.map((date) => [date, minutesOn(known, date)]));
        return { ...reminder, balances: balancesOn(dates, expected, minutes) };
      });
    },
    async onDay(date: string): Promise<KnownDay> {
      const item = await table.getEvenExpired(key);
      seen = { item };
      const { data } = shape.safeParse(item && !isExpired(item, clock()) ? item : undefined);
      if (!data) return { minutes: 0, isAll: false };
      const reading = data.weeks[mondayOf(date)];
      const isAll = reading !== undefined && clock() - reading.at < FRESH_MS && date <= reading.to;
      const minutes = minutesOn(isAll ? data : { ...data, weeks: {} }, date);
      return { minutes, isAll, expected: reading?.expected?.[date] };
    },
  };
};

/** Adds the time that the relay has logged since the last reading to the time that was read. */
function minutesOn({ weeks, entries }: Known, date: string): number {
  const read = weeks[mondayOf(date)];
  const isSince = ({ at, id = '' }: Known['entries'][number]) => !read || (at >= read.at && !read.ids.includes(id));
  const since = entries.filter((entry) => entry.date === date && isSince(entry));
  return since.reduce((sum, entry) => sum + entry.minutes, read?.minutes[date] ?? 0);
}
