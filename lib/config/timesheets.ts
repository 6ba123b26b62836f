import * as z from 'zod';
import { WEEKDAYS } from '../dates.ts';
import { type Addresses, addressesOf } from './addresses.ts';
import { holidays } from './holidays.ts';
import { offByDefault, textLike } from './kinds.ts';
import { type NamedSetting, refuseRepeated, slackChannel, slug, timeZone } from './names.ts';

/** Addresses are those in the service, and are compared in lowercase. */
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
    name: slug.meta({ description: 'A name of your choice, for messages and logs.', examples: ['platform'] }),
    connection: slug.meta({ description: 'The connection whose time entries count.', examples: ['main'] }),
    timeZone: timeZone.meta({
      description: "Where the team's days begin and end. Its times of day are in this zone.",
      examples: ['Europe/Berlin'],
    }),
    remindAt: timeOfDay.meta({
      description: 'From this time on, people are reminded of the day.',
      examples: ['16:30'],
    }),
    hours: weeklyHours
      .refine(
        (week) => Object.values(week).some((expected) => expected !== undefined && expected > 0),
        'expected hours on at least one weekday, such as { mon: 8 }',
      )
      .meta({
        description: 'The hours that are expected on each weekday. A weekday that is left out is a day off.',
        examples: [{ mon: 8, tue: 8, wed: 8, thu: 8, fri: 6 }],
      }),
    people: z
      .union(
        [z.literal('all'), z.array(email).min(1, 'expected at least one address')],
        "expected 'all' or a list of e-mail addresses",
      )
      .meta({
        description:
          "The members, by their addresses in the service. `'all'` means the users of the service who are in no other " +
          'team of the connection.',
        examples: [['ada@example.com', 'grace@example.com']],
      }),
    partTime: z
      .array(z.strictObject({ email, hours: weeklyHours }))
      .default([])
      .meta({
        description:
          "Members with hours of their own. A weekday that is left out is a day off, also if it is the team's.",
        examples: [[{ email: 'ada@example.com', hours: { mon: 4, tue: 4 } }]],
      }),
    joined: z
      .array(z.strictObject({ email, on: z.iso.date('expected a date such as 2026-11-18') }))
      .default([])
      .meta({
        description: 'The first working day of members who came later. Nothing is expected of them before it.',
        examples: [[{ email: 'ada@example.com', on: '2026-11-18' }]],
      }),
    quiet: z
      .array(email)
      .default([])
      .meta({
        description: 'Members who are never reminded. They are still in the summary.',
        examples: [['ada@example.com']],
      }),
    holidays,
    absence: z
      .strictObject({
        calendar: z
          .literal(
            true,
            'expected true; enter the address with npx partner-relay secrets set calendar/<team>, because it is a password',
          )
          .optional()
          .meta({
            description:
              'The team has an iCalendar file, with its address in the secret `calendar/<team>`. A person is away on a day ' +
              'if an event has their address, or their whole name in its title.',
            examples: [true],
          }),
      })
      .prefault({})
      .meta({ description: 'Who gets no reminder because they are away, besides those who say so in a reminder.' }),
    remindOf: z
      .enum(['day', 'week'], 'expected day or week')
      .default('week')
      .meta({
        description:
          'What counts as missing, in reminders and in `/pm week`. `week`: what is missing from Monday up to the day, so that ' +
          'more hours on one day make up for fewer on another. `day`: each day by itself.',
        examples: ['day'],
      }),
    summary: z
      .strictObject({
        channel: slackChannel.meta({ description: 'The channel that gets it.', examples: ['C0123ABCD'] }),
        on: weekday.default('mon').meta({ description: 'The weekday on which it is sent.', examples: ['tue'] }),
        at: timeOfDay.default('09:00').meta({ description: 'The time at which it is sent.', examples: ['08:30'] }),
      })
      .optional()
      .meta({ description: 'A summary of the last week that is over, Monday to Sunday, in a channel.' }),
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
    teams: z
      .array(team)
      .min(1, 'expected at least one team')
      .meta({ description: 'The teams. A person can be in only one team of a connection.' }),
  })
  .superRefine(({ teams }, context) => {
    refuseRepeated(
      teams.map(({ name }, index) => [['teams', index, 'name'], name]),
      context,
    );
    // A person in two teams would be reminded twice a day.
    for (const connection of new Set(teams.map((team) => team.connection))) {
      refuseRepeated(
        teams.flatMap((team, index) => (team.connection === connection ? membersAt(['teams', index], team) : [])),
        context,
      );
    }
  });

/** The checked settings; they are JSON. */
type Timesheets = z.output<typeof timesheetsConfig>;
export type Team = Timesheets['teams'][number];

function membersAt(path: NamedSetting[0], { people }: Pick<Team, 'people'>): NamedSetting[] {
  if (people === 'all') return [[[...path, 'people'], people]];
  return people.map((email, index) => [[...path, 'people', index], email]);
}

/** A typo in an address would otherwise go unnoticed, and a person who should not get reminders would get them. */
function refuseStrangers(team: Addresses, context: z.RefinementCtx): void {
  const { people } = team;
  for (const [path, email] of addressesOf(team)) {
    if (people === 'all' || people.includes(email)) continue;
    context.addIssue({ code: 'custom', path: [...path], message: `'${email}' is not among the team's people` });
  }
}

/** No one is reminded on a day off of their team. */
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
