import * as z from 'zod';
import { WEEKDAYS } from '../dates.ts';
import { type Addresses, addressesOf } from './addresses.ts';
import { holidays } from './holidays.ts';
import { slackChannel, slug, timeZone } from './names.ts';
import { type Named, refuseRepeated } from './refuse-repeated.ts';

/** Addresses are those in the service, and are compared in lowercase. */
const email = z.email('expected an e-mail address').toLowerCase();
const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'expected a time of day such as 16:30');
const weekday = z.enum(WEEKDAYS, `expected one of ${WEEKDAYS.join(', ')}`);
const hours = z.number().min(0).max(24).optional();

/** Expected hours of each weekday; one without any is no working day. */
const weeklyHours = z.strictObject(
  { mon: hours, tue: hours, wed: hours, thu: hours, fri: hours, sat: hours, sun: hours },
  {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `no weekday '${issue.keys.join("', '")}'; expected ${WEEKDAYS.join(', ')}`
        : undefined,
  },
);

const team = z
  .strictObject({
    name: slug,
    connection: slug,
    /** Where the team's days begin and end, and its times of day hold. */
    timeZone,
    /** From this local time on, people are reminded of that day. */
    remindAt: timeOfDay,
    hours: weeklyHours.refine(
      (week) => Object.values(week).some((expected) => expected !== undefined && expected > 0),
      'expected hours on at least one weekday, such as { mon: 8 }',
    ),
    /** `all` are the users of the service who are in no other team of the connection. */
    people: z.union(
      [z.literal('all'), z.array(email).min(1, 'expected at least one address')],
      "expected 'all' or a list of e-mail addresses",
    ),
    /** Whose hours are not the team's. A weekday that is not named is a day off. */
    partTime: z.array(z.strictObject({ email, hours: weeklyHours })).default([]),
    /** The first working day of somebody who came later, before which nothing is expected of them. */
    joined: z.array(z.strictObject({ email, on: z.iso.date('expected a date such as 2026-11-18') })).default([]),
    /** Who is never reminded, and is in the summary all the same. */
    quiet: z.array(email).default([]),
    holidays,
    /**
     * Of what somebody is reminded: `day`, that the day is short; `week`, that the week is, from Monday up to the day,
     * so that hours too many on one day make up for hours too few on another; `either` of the two.
     */
    remindOf: z.enum(['day', 'week', 'either'], 'expected day, week or either').default('either'),
    /** About the last week, Monday to Sunday, that is over. */
    summary: z
      .strictObject({ channel: slackChannel, on: weekday.default('mon'), at: timeOfDay.default('09:00') })
      .optional(),
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

/** Who is reminded of time that is not logged, when, and who is told of the week. */
export const timesheetsConfig = z
  .strictObject({
    /** Says what would be sent, and sends nothing. */
    dryRun: z.boolean().default(false),
    teams: z.array(team).min(1, 'expected at least one team'),
  })
  .superRefine(({ teams }, context) => {
    refuseRepeated(
      teams.map(({ name }, index) => [['teams', index, 'name'], name]),
      context,
    );
    // Whoever were in two teams would be reminded twice a day.
    for (const connection of new Set(teams.map((team) => team.connection))) {
      refuseRepeated(
        teams.flatMap((team, index) => (team.connection === connection ? membersAt(['teams', index], team) : [])),
        context,
      );
    }
  });

/** The checked settings; they are JSON. */
export type Timesheets = z.output<typeof timesheetsConfig>;
export type Team = Timesheets['teams'][number];

function membersAt(path: Named[0], { people }: Pick<Team, 'people'>): Named[] {
  if (people === 'all') return [[[...path, 'people'], people]];
  return people.map((email, index) => [[...path, 'people', index], email]);
}

/** A slip in an address would go unnoticed: it would have somebody reminded who is not to be. */
function refuseStrangers(team: Addresses, context: z.RefinementCtx): void {
  const { people } = team;
  for (const [path, email] of addressesOf(team)) {
    if (people === 'all' || people.includes(email)) continue;
    context.addIssue({ code: 'custom', path: [...path], message: `'${email}' is not among the team's people` });
  }
}

/** Nobody is reminded on a day on which their team does not work. */
function refuseDaysOff({ hours, partTime }: Pick<Team, 'hours' | 'partTime'>, context: z.RefinementCtx): void {
  for (const [index, person] of partTime.entries()) {
    for (const day of WEEKDAYS.filter((day) => person.hours[day] && !hours[day])) {
      context.addIssue({
        code: 'custom',
        path: ['partTime', index, 'hours', day],
        message: `${day} is no working day of the team; whoever works then needs a team of their own`,
      });
    }
  }
}
