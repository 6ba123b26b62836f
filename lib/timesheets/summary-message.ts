import { printDuration } from '../commands/duration.ts';
import { type SlackMessage, section } from '../slack/messages.ts';
import { code } from '../slack/mrkdwn.ts';
import { cutToLength } from '../text.ts';
import type { Week } from './calendar.ts';
import type { Standing } from './shortfall.ts';

/** How somebody stands at the end of a week. */
export interface PersonOfWeek extends Standing {
  name: string;
  /** Why entries of theirs could not be read. */
  unreadable: readonly string[];
}

/** A section with this many lines stays below Slack's 3,000 characters. */
const LINES_PER_SECTION = 15;
/** Slack refuses messages with some 12,000 characters of text in blocks. https://github.com/slackapi/bolt-js/issues/2509 */
const SECTIONS_PER_MESSAGE = 4;
const MAX_NAME_LENGTH = 60;
const BAR_LENGTH = 10;

/**
 * Who is complete and who is short of a week, each with a bar; whoever is shortest stands first. Of a large team there
 * are several messages.
 */
export function summaryMessages(
  team: string,
  { weekStart, weekEnd }: Week,
  people: readonly PersonOfWeek[],
): SlackMessage[] {
  const complete = people.filter(({ missing, unreadable }) => missing === 0 && unreadable.length === 0);
  const counted = `${complete.length} of ${people.length} timesheets of ${team} are complete for ${weekStart} to ${weekEnd}`;
  const lines = [...people].sort((a, b) => b.missing - a.missing || a.name.localeCompare(b.name)).map(line);
  const sections = chunks(lines, LINES_PER_SECTION).map((some) => section(some.join('\n')));
  const parts = sections.length > 0 ? chunks(sections, SECTIONS_PER_MESSAGE) : [[]];
  return parts.map((blocks, index) =>
    index === 0
      ? { text: counted, blocks: [section(`*${counted}*`), ...blocks] }
      : { text: `${counted} (${index + 1} of ${parts.length})`, blocks },
  );
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  const parts: T[][] = [];
  for (let from = 0; from < items.length; from += size) parts.push(items.slice(from, from + size));
  return parts;
}

function line({ name, expected, logged, missing, unreadable }: PersonOfWeek): string {
  const filled = Math.min(BAR_LENGTH, Math.floor((logged / expected) * BAR_LENGTH));
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_LENGTH - filled);
  const standing = `${logged === 0 ? '0h' : printDuration(logged)} of ${printDuration(expected)}`;
  const short = missing > 0 ? `, *${printDuration(missing)} short*` : '';
  const unread = unreadable.length > 0 ? ` (:warning: ${unreadable.length} unreadable)` : '';
  // In a span of code a name formats nothing.
  return `${code(`${bar} ${cutToLength(name, MAX_NAME_LENGTH, '…')}`)} ${standing}${short}${unread}`;
}
