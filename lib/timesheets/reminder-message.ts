import { printDuration } from '../commands/duration.ts';
import { button, MAX_BUTTON_VALUE_LENGTH, message, type SlackMessage, section } from '../platforms/slack/messages.ts';
import { AWAY_BUTTON } from '../platforms/slack/views/away-views.ts';
import { LOG_REST_BUTTON, MUTE_BUTTON, type RestOfDay } from '../platforms/slack/views/views.ts';
import { cutToLength } from '../text.ts';
import { type Balances, type TimeBalance, TOLERATED_MINUTES } from './shortfall.ts';

const MAX_TASK_NAME_LENGTH = 75;

/** The reminder for a timesheet with missing time: the logged and the missing time, and buttons to complete it. */
export function reminderMessage({
  at,
  connection,
  date,
  tasks,
  balances,
}: Omit<RestOfDay, 'minutes'> & { balances: Balances }): SlackMessage {
  const { days, sum } = balances;
  const day = days[date] ?? sum;
  const lines = [
    `*${dayName(date)}*: ${stands(day)}`,
    ...(sum.expected > day.expected ? [`*The week up to that day*: ${stands(sum)}`] : []),
  ];
  const [short] = Object.entries(days)
    .sort()
    .filter(([, { missing }]) => missing > 0)
    .toReversed();
  if (!short) return message(section(`:white_check_mark: Your timesheet is complete.\n${lines.join('\n')}`));
  return {
    text: `Your timesheet is missing ${missingIn(balances, date)}`,
    blocks: [
      section(`:clock4: Your timesheet is not complete.\n${lines.join('\n')}`),
      {
        type: 'actions',
        elements: [
          button(
            'Log the rest',
            LOG_REST_BUTTON,
            restOfDay({ connection, date: short[0], minutes: short[1].missing, at, tasks }),
            'primary',
          ),
          button('Mute today', MUTE_BUTTON, date),
          button('Away until…', AWAY_BUTTON, connection),
        ],
      },
    ],
  };
}

/** Returns the missing time of the day, or of the week if the day is complete. */
export const missingIn = ({ days, sum }: Balances, date: string): string =>
  printDuration(days[date]?.missing || sum.missing);

/** Returns a button's value, with as many tasks as fit. */
export function restOfDay({ tasks, ...rest }: RestOfDay): string {
  const cut = tasks.map(({ id, name }) => ({ id, name: cutToLength(name, MAX_TASK_NAME_LENGTH, '…') }));
  for (let count = cut.length; ; count--) {
    const value = JSON.stringify({ ...rest, tasks: cut.slice(0, count) } satisfies RestOfDay);
    if (value.length <= MAX_BUTTON_VALUE_LENGTH || count === 0) return value;
  }
}

/** Describes a balance; without expected time, only the logged time. */
export function stands({ expected, logged, missing }: TimeBalance): string {
  const all = logged === 0 ? (expected === 0 ? 'nothing' : '0h') : printDuration(logged);
  const of = expected === 0 ? `${all} logged` : `${all} of ${printDuration(expected)}`;
  // Without this addition, the three figures would look like a wrong sum.
  const madeUp = expected - logged - missing;
  if (missing === 0) return madeUp > TOLERATED_MINUTES ? `${of}, the rest covered by extra time on other days` : of;
  const after = madeUp > 0 ? ` (${printDuration(madeUp)} covered by extra time on other days)` : '';
  return `${of}, ${printDuration(missing)} missing${after}`;
}

export function dayName(date: string): string {
  const named = { weekday: 'long', day: 'numeric', month: 'long', timeZone: 'UTC' } as const;
  return new Intl.DateTimeFormat('en-GB', named).format(new Date(date));
}
