import { CannotTell, type Check, check } from '../../lib/checks/check.ts';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { type CalendarSource, readCalendar } from '../../lib/timesheets/absence-calendar.ts';

/** Checks the teams' calendars of absences. */
export function calendarChecks({ timesheets }: RelayConfig, source: CalendarSource): Check[] {
  const teams = timesheets?.teams.filter(({ absence }) => absence.calendar) ?? [];
  const today = new Date().toISOString().slice(0, 10);
  return teams.map((team) =>
    check(`calendar of the team ${team.name}`, async () => {
      const read = await readCalendar(team, [], today, source);
      if ('unread' in read) throw new Error(`${read.unread}; reminders go out as without it`);
      if (read.leftOut !== undefined) throw new CannotTell(`not all of it can be read: ${read.leftOut}`);
      return 'can be read';
    }),
  );
}
