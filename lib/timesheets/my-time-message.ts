import { printDuration } from '../commands/duration.ts';
import { button, message, type SlackMessage, section } from '../platforms/slack/messages.ts';
import { code } from '../platforms/slack/mrkdwn.ts';
import { LOG_REST_BUTTON, type RestOfDay } from '../platforms/slack/views/views.ts';
import { cutToLength } from '../text.ts';
import { dayName, restOfDay, stands } from './reminder-message.ts';
import type { TimeBalance } from './shortfall.ts';

/** One day of a person's time. */
export interface MyDay {
  date: string;
  balance: TimeBalance;
  isAway: boolean;
  /** Minutes by task name. */
  tasks: ReadonlyMap<string, number>;
}

const MOST_TASKS = 10;
const MAX_NAME_LENGTH = 75;

/** Shows a person's logged time, with a button for each day with missing time. */
export function myTimeMessage(
  days: readonly MyDay[],
  week: TimeBalance,
  rest: Pick<RestOfDay, 'connection' | 'at' | 'tasks'>,
  note?: string,
): SlackMessage {
  const shown = days.map(({ date, balance, isAway, tasks }) => {
    const lines = [...tasks].map(
      ([name, minutes]) => `• ${printDuration(minutes)} ${code(cutToLength(name, MAX_NAME_LENGTH, '…'))}`,
    );
    const others = lines.length > MOST_TASKS ? [`• ${lines.length - MOST_TASKS} more tasks`] : [];
    const first = `*${dayName(date)}*: ${stands(balance)}${isAway ? ', away' : ''}`;
    const { missing } = balance;
    const value = restOfDay({ ...rest, date, minutes: missing });
    return {
      ...section([first, ...lines.slice(0, MOST_TASKS), ...others].join('\n')),
      ...(missing > 0 && { accessory: button('Log the rest', LOG_REST_BUTTON, value) }),
    };
  });
  const below = note === undefined ? [] : [section(`:warning: ${note}`)];
  return message([...shown, section(`*This week so far*: ${stands(week)}`), ...below]);
}
