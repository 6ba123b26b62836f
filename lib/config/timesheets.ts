import * as z from 'zod';
import { WEEKDAYS } from '../dates.ts';
import { type Addresses, addressesOf } from './addresses.ts';
import { holidays } from './holidays.ts';
import { offByDefault, setting, textLike } from './kinds.ts';
import { type NamedSetting, refuseRepeated, slackChannel, slug, timeZone } from './names.ts';

/** Addresses are the service's, compared in lowercase. */
const email = z.email('expected an e-mail address').toLowerCase();
const timeOfDay = textLike(/^([01]\d|2[0-3]):[0-5]\d$/, 'expected a time of day such as 16:30');
const weekday = z.enum(WEEKDAYS, `expected one of ${WEEKDAYS.join(', ')}`);
const hours = z.number().min(0).max(24).optional();

/** Expected hours per weekday. A weekday without hours is a day off. */
const weeklyHours = z.strictObject({
  mon: hours,
  tue: hours,
  wed: hours,
  thu: hours,
  fri: hours,
  sat: hours,
  sun: hours,
});

const team = z
  .strictObject({
    name: setting(slug, 'A name of your choice, for messages and logs.', 'platform'),
    connection: setting(slug, 'The connection whose time entries count.', 'main'),
    timeZone: setting(
      timeZone,
      "Where the team's days begin and end. Its times of day are in this zone.",
      'Europe/Berlin',
    ),
    remindAt: setting(timeOfDay, 'From this time on, people are reminded of the day.', '16:30'),
    hours: setting(
      weeklyHours.refine(
        (week) => Object.values(week).some((expected) => expected !== undefined && expected > 0),
        'expected hours on at least one weekday, such as { mon: 8 }',
      ),
      'The hours that are expected on each weekday. A weekday that is left out is a day off.',
      { mon: 8, tue: 8, wed: 8, thu: 8, fri: 6 },
    ),
    people: setting(
      z.union(
        [z.literal('all'), z.array(email).min(1, 'expected at least one address')],
        "expected 'all' or a list of e-mail addresses",
      ),
      "The members, by their addresses in the service. `'all'` means the users of the service who are in no other " +
        'team of the connection.',
      ['ada@example.com', 'grace@example.com'],
    ),
    partTime: setting(
      z.array(z.strictObject({ email, hours: weeklyHours })).default([]),
      "Members with hours of their own. A weekday that is left out is a day off, also if it is the team's.",
      [{ email: 'ada@example.com', hours: { mon: 4, tue: 4 } }],
    ),
    joined: setting(
      z.array(z.strictObject({ email, on: z.iso.date('expected a date such as 2026-11-18') })).default([]),
      'The first working day of members who came later. Nothing is expected of them before it.',
      [{ email: 'ada@example.com', on: '2026-11-18' }],
    ),
    quiet: setting(z.array(email).default([]), 'Members who are never reminded. They are still in the summary.', [
      'ada@example.com',
    ]),
    holidays,
    absence: setting(
      z
        .strictObject({
          calendar: setting(
            z
              .literal(
                true,
                'expected true; enter the address with npx partner-relay secrets set calendar/<team>, because it is a password',
              )
              .optional(),
            'The team has an iCalendar file, with its address in the secret `calendar/<team>`. A person is away on a day ' +
              'if an event has their address, or their whole name in its title.',
            true,
          ),
        })
        .prefault({}),
      'Who gets no reminder because they are away, besides those who say so in a reminder.',
    ),
    remindOf: setting(
      z.enum(['day', 'week'], 'expected day or week').default('week'),
      'What counts as missing, in reminders and in `/pm week`. `week`: what is missing from Monday up to the day, so that ' +
        'more hours on one day make up for fewer on another. `day`: each day by itself.',
      'day',
    ),
    summary: setting(
      z
        .strictObject({
          channel: setting(slackChannel, 'The channel that gets it.', 'C0123ABCD'),
          on: setting(weekday.default('mon'), 'The weekday on which it is sent.', 'tue'),
          at: setting(timeOfDay.default('09:00'), 'The time at which it is sent.', '08:30'),
        })
        .optional(),
      'A summary of the last week that is over, Monday to Sunday, in a channel.',
    ),
  })
  .superRefine((team, context) => {
    refuseStrangers(team, context);
    for (const list of ['partTime', 'joined'] as const) {
      refuseRepeated(
        team[list].map(({ email }, index) => [[list, index, 'email'], email]),
        context,
      );
    }
    refuseDaysOff(team, context);
  });

/** Settings for reminders of missing time and for weekly summaries. */
export const timesheetsConfig = z
  .strictObject({
    dryRun: offByDefault(
      'Says in the jobs what would be sent, and sends nothing. The local stand-in for Slack gets the messages anyway.',
    ),
    teams: setting(
      z.array(team).min(1, 'expected at least one team'),
      'The teams. A person can be in only one team of a connection.',
    ),
  })
  .superRefine(({ teams }, context) => {
    refuseRepeated(
      teams.map(({ name }, index) => [['teams', index, 'name'], name]),
      context,
    );
    // A person in two teams would get two reminders a day.
    for (const connection of new Set(teams.map((team) => team.connection))) {
      refuseRepeated(
        teams.flatMap((team, index) => (team.connection === connection ? membersAt(['teams', index], team) : [])),
        context,
      );
    }
  });

/** The checked settings, as JSON. */
type Timesheets = z.output<typeof timesheetsConfig>;
export type Team = Timesheets['teams'][number];

function membersAt(path: NamedSetting[0], { people }: Pick<Team, 'people'>): NamedSetting[] {
  if (people === 'all') return [[[...path, 'people'], people]];
  return people.map((email, index) => [[...path, 'people', index], email]);
}

/**
 * Refuses addresses of people outside the team. Without this check, a typo would go unnoticed, and the wrong people
 * would get reminders.
 */
function refuseStrangers(team: Addresses, context: z.RefinementCtx): void {
  const { people } = team;
  for (const [path, email] of addressesOf(team)) {
    if (people === 'all' || people.includes(email)) continue;
    context.addIssue({ code: 'custom', path: [...path], message: `'${email}' is not among the team's people` });
  }
}

/** Refuses hours on a team's day off, because there are no reminders on that day. */
function refuseDaysOff({ hours, partTime }: Pick<Team, 'hours' | 'partTime'>, context: z.RefinementCtx): void {
  for (const [index, person] of partTime.entries()) {
    for (const day of WEEKDAYS.filter((day) => person.hours[day] && !hours[day])) {
      context.addIssue({
        code: 'custom',
        path: ['partTime', index, 'hours', day],
        message: `${day} is not a working day of the team; put people who work on that day in another team`,
      });
    }
  }
}
