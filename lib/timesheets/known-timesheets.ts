import * as z from 'zod/mini';
import { changeItem } from '../state/table/counted-item.ts';
import { expiry } from '../state/table/expiry.ts';
import { keys } from '../state/table/keys.ts';
import type { Table } from '../state/table/table.ts';
import { storedTime } from '../state/table/unreadable-item.ts';
import type { Timesheet } from './read-timesheets.ts';
import type { MinutesByDate } from './shortfall.ts';

/** What is known of people's time without a call: what was read of it last, and what the relay has logged since. */
export type KnownTimesheets = ReturnType<typeof createKnownTimesheets>;

/** A user of the service, or a person who acts through their own account. */
export interface Logger {
  connection: string;
  id: string | number;
}

/** What is logged on a day. */
export interface KnownDay {
  minutes: number;
  /** Whether that is all of it. If not, it is what the relay has logged. */
  isAll: boolean;
  /** What the person is expected to log, if their team was known. */
  expected?: number | undefined;
}

/** In this time, people log little elsewhere. */
const FRESH_MS = 10 * 60_000;
const MOST_ENTRIES = 100;

const text = z.string();
const minutesByDate = z.record(text, z.number());
const shape = z.object({
  /** Of the last reading that had any. */
  tasks: z.array(z.object({ id: text, name: z.optional(text) })),
  reading: z.optional(
    z.object({
      at: storedTime,
      from: text,
      to: text,
      minutes: minutesByDate,
      expected: z.optional(minutesByDate),
      ids: z.array(text),
    }),
  ),
  /** What the relay has logged, the newest last. */
  entries: z.array(z.object({ jobId: text, id: z.optional(text), at: storedTime, date: text, minutes: z.number() })),
});
type Known = z.output<typeof shape>;
type Entry = Omit<Known['entries'][number], 'at'>;

/** A timesheet that was read just now, and what is expected on its days, if the person has a team. */
interface ReadTimesheet extends Pick<Timesheet, 'minutes' | 'tasks' | 'ids'> {
  at: number;
  from: string;
  to: string;
  expected: MinutesByDate | undefined;
}

export function createKnownTimesheets(table: Table, clock: () => number) {
  const keyOf = ({ connection, id }: Logger) => keys.timesheet(connection, String(id));
  const change = (of: Logger, transition: (known: Known) => Known) =>
    changeItem(table, keyOf(of), shape, (known = { tasks: [], entries: [] }) => ({
      ...transition(known),
      expiresAt: expiry(clock()),
    }));

  return {
    /** @returns the person's tasks: those of an earlier reading for a week in which they have not logged any time yet */
    async keep(of: Logger, { tasks, ...reading }: ReadTimesheet): Promise<Known['tasks']> {
      const kept = await change(of, (known) => ({
        ...known,
        tasks: tasks.length > 0 ? tasks : known.tasks,
        reading,
      }));
      return kept?.tasks ?? tasks;
    },
    /** Keeps what the relay has logged, once for each job. */
    async add(of: Logger, entry: Entry): Promise<void> {
      await change(of, ({ entries, ...known }) => {
        const others = entries.filter(({ jobId }) => jobId !== entry.jobId);
        return { ...known, entries: [...others, { ...entry, at: clock() }].slice(-MOST_ENTRIES) };
      });
    },
    async onDay(of: Logger, date: string): Promise<KnownDay> {
      const { reading, entries = [] } = shape.safeParse(await table.get(keyOf(of))).data ?? {};
      const isFresh = reading && clock() - reading.at < FRESH_MS;
      const read = isFresh && reading.from <= date && date <= reading.to ? reading : undefined;
      const isSince = ({ at, id = '' }: Known['entries'][number]) => !read || (at >= read.at && !read.ids.includes(id));
      const since = entries.filter((entry) => entry.date === date && isSince(entry));
      const minutes = since.reduce((sum, entry) => sum + entry.minutes, read?.minutes[date] ?? 0);
      return { minutes, isAll: read !== undefined, expected: read?.expected?.[date] };
    },
  };
}
