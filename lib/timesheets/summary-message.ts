import { chunks } from '../chunks.ts';
import { printDuration } from '../commands/duration.ts';
import { type SlackMessage, section } from '../platforms/slack/messages.ts';
import { code } from '../platforms/slack/mrkdwn.ts';
import { cutToLength, enumerated } from '../text.ts';
import type { Week } from './calendar.ts';
import { dayName } from './reminder-message.ts';
import type { TimeBalance } from './shortfall.ts';

/** A person's balance at the end of a week. */
interface PersonOfWeek extends TimeBalance {
  name: string;
  /** Why some entries could not be read. */
  unreadable: readonly string[];
  /** The days on which reminders found the person away. */
  away: readonly string[];
}

/** Below Slack's limit of 3,000. Four sections and the first line stay below Slack's limit for a message. */
const MAX_SECTION_LENGTH = 2_800;
/**
 * Slack refuses messages with more than about 12,000 characters in blocks.
 * https://github.com/slackapi/bolt-js/issues/2509
 */
const SECTIONS_PER_MESSAGE = 4;
const MAX_NAME_LENGTH = 60;
const BAR_LENGTH = 10;

/**
 * Shows a week's summary with a bar for each person: who has time missing, the largest amount first, and who is
 * complete. A large team gets several messages.
 *
 * @param addressesOfNobody addresses in the team's settings that belong to no user of the service
 * @param withoutCalendar the days on which the team's calendar could not be read
 */
export function summaryMessages(
  team: string,
  { weekStart, weekEnd }: Week,
  people: readonly PersonOfWeek[],
  addressesOfNobody: readonly string[],
  withoutCalendar: readonly string[],
): SlackMessage[] {
  // A person who was away all week owes no timesheet.
  const due = people.filter(({ expected }) => expected > 0);
  const complete = due.filter(({ missing, unreadable }) => missing === 0 && unreadable.length === 0);
  const counted = `Team ${team}, ${dayName(weekStart)} to ${dayName(weekEnd)}: ${complete.length} of ${due.length} timesheets are complete`;
  const lines = [...people].sort((a, b) => shortBy(b) - shortBy(a) || a.name.localeCompare(b.name)).map(line);
  const unknown = addressesOfNobody.map(
    (email) => `:warning: No user of the service has the address ${code(email)}. Ask your administrator to correct it.`,
  );
  const unread =
    withoutCalendar.length === 0
      ? []
      : [`:warning: The calendar of the team could not be read on ${enumerated(withoutCalendar)}.`];
  const sections = paragraphs([...lines, ...unknown, ...unread]).map(section);
  const parts = sections.length > 0 ? chunks(sections, SECTIONS_PER_MESSAGE) : [[]];
  return parts.map((blocks, index) =>
    index === 0
      ? { text: counted, blocks: [section(`*${counted}*`), ...blocks] }
      : { text: `${counted} (${index + 1} of ${parts.length})`, blocks },
  );
}

/** Groups lines into sections, as many as fit. Lines are measured after escaping, which makes names longer. */
function paragraphs(lines: readonly string[]): string[] {
  const texts: string[] = [];
  for (const line of lines) {
    const last = texts.at(-1);
    if (last !== undefined && last.length + line.length < MAX_SECTION_LENGTH)
      texts[texts.length - 1] = `${last}\n${line}`;
    else texts.push(line);
  }
  return texts;
}

/** Returns the missing time; 0 if unreadable entries leave it unknown. */
function shortBy({ missing, unreadable }: PersonOfWeek): number {
  return unreadable.length > 0 ? 0 : missing;
}

function line(person: PersonOfWeek): string {
  const { name, expected, logged, unreadable, away } = person;
  const filled = Math.min(BAR_LENGTH, Math.floor((expected === 0 ? 1 : logged / expected) * BAR_LENGTH));
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_LENGTH - filled);
  const standing = `${logged === 0 ? '0h' : printDuration(logged)} of ${printDuration(expected)}`;
  const short = shortBy(person) > 0 ? `, *${printDuration(shortBy(person))} short*` : '';
  const unread = unreadable.length > 0 ? ` (:warning: ${unreadable.length} unreadable)` : '';
  const absent = away.length > 0 ? `, away on ${enumerated(away)}` : '';
  // In a code span, a name has no formatting, but a line break would end the span.
  const shown = cutToLength(name.replaceAll(/\s+/g, ' ').trim(), MAX_NAME_LENGTH, '…') || '(without a name)';
  return `${code(`${bar} ${shown}`)} ${standing}${short}${unread}${absent}`;
}
