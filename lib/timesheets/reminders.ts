import * as z from 'zod/mini';
import { DAY_MS, mondayOf } from '../dates.ts';
import { restOfDay } from '../platforms/slack/views/views.ts';
import { expiry } from '../state/table/expiry.ts';
import { keys } from '../state/table/keys.ts';
import type { Table } from '../state/table/table.ts';
import { afterLogging, type Shortfall } from './shortfall.ts';

const balance = z.object({ expected: z.number(), logged: z.number(), missing: z.number() });

/** A reminder that went out, and the reading that it shows. */
const sentReminder = z.object({
  channel: z.string(),
  ts: z.string(),
  date: z.string(),
  shortfall: z.object({ day: balance, week: balance }),
  tasks: restOfDay.shape.tasks,
  /** When the time entries were read; epoch milliseconds. */
  readAt: z.number(),
  /** The ids of what was read, because a job may note its entry long after the service has it. */
  ids: z.array(z.string()),
});
type SentReminder = z.output<typeof sentReminder>;

/** Time that the relay logged for a person. */
const loggedTime = z.object({
  id: z.optional(z.string()),
  date: z.string(),
  minutes: z.number(),
  loggedAt: z.number(),
});
type LoggedTime = z.output<typeof loggedTime>;
export type NotedEntry = Omit<LoggedTime, 'loggedAt'>;

/** A person on one connection. */
interface Reminded {
  connection: string;
  /** The Slack user id. */
  userId: string;
}

/** What the reminders of a person's week say, and what the relay logged for them in that week. */
export type Reminders = ReturnType<typeof createReminders>;

/** People press the buttons of a reminder days later, too. */
const KEPT_FOR_MS = 21 * DAY_MS;

export function createReminders(table: Table, clock: () => number) {
  const keyOf = ({ connection, userId }: Reminded, date: string, what: string) =>
    keys.reminded(connection, userId, mondayOf(date), what);
  const expiresAt = () => expiry(clock(), KEPT_FOR_MS);

  return {
    async keep(person: Reminded, sent: SentReminder): Promise<void> {
      await table.put({ ...keyOf(person, sent.date, `reminder ${sent.date}`), ...sent, expiresAt: expiresAt() });
    },
    /**
     * Notes time that a job has logged.
     * @returns the reminders that show that day, with what is missing now
     */
    async note(
      person: Reminded,
      jobId: string,
      { id, date, minutes }: NotedEntry,
    ): Promise<(SentReminder & { shortfall: Shortfall })[]> {
      const key = keyOf(person, date, `time ${jobId}`);
      const logged = { id, date, minutes, loggedAt: clock(), expiresAt: expiresAt() };
      await table.put({ ...key, ...logged }, { expression: 'attribute_not_exists(#pk)' });
      const week = await table.partition(key.pk);
      const entries = week.flatMap((item) => loggedTime.safeParse(item).data ?? []);
      const reminders = week.flatMap((item) => sentReminder.safeParse(item).data ?? []);
      return reminders
        .filter((reminder) => reminder.date >= date)
        .map((reminder) => {
          const isSince = ({ id = '', loggedAt }: LoggedTime) =>
            loggedAt > reminder.readAt && !reminder.ids.includes(id);
          const since = entries.filter((entry) => isSince(entry) && entry.date <= reminder.date);
          const sum = (of: typeof since) => of.reduce((total, entry) => total + entry.minutes, 0);
          const more = { day: sum(since.filter((entry) => entry.date === reminder.date)), week: sum(since) };
          return { ...reminder, shortfall: afterLogging(reminder.shortfall, more) };
        });
    },
  };
}
