import type { RelayConfig } from '../../lib/config/schema.ts';
import { type CalendarSource, readCalendar } from '../../lib/timesheets/absence-calendar.ts';
import { CannotTell, check, type Finding } from './finding.ts';

/** Reads the calendars of absences that teams have. */
export async function checkCalendars({ timesheets }: RelayConfig, source: CalendarSource): Promise<Finding[]> {
  const teams = timesheets?.teams.filter(({ absence }) => absence.calendar) ?? [];
  const today = new Date().toISOString().slice(0, 10);
  return Promise.all(
    teams.map((team) =>
      check(`calendar of the team ${team.name}`, async () => {
        const read = await readCalendar(team, [], today, source);
        if ('unread' in read) throw new Error(`${read.unread}; reminders go out as without it`);
        if (read.leftOut !== undefined) throw new CannotTell(`not all of it can be read: ${read.leftOut}`);
        return 'can be read';
      }),
    ),
  );
}
