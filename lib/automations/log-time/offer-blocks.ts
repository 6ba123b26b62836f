import type { Languages } from '../../commands/day-names.ts';
import { printDuration } from '../../commands/duration.ts';
import { excerpt } from '../../commands/fault.ts';
import { printLog } from '../../commands/log.ts';
import type { McpConfig } from '../../config/mcp.ts';
import type { Job } from '../../engine/record/job.ts';
import { placeOf, runButton } from '../../platforms/slack/command-button.ts';
import { message, plainSection, sentence } from '../../platforms/slack/messages.ts';
import { cutToLength } from '../../text.ts';
import type { TimeToLog } from './command.ts';
import { didYouMean, type ReadTask } from './find-task.ts';

/** Time that a person asked to log, with the context to interpret it. */
export interface AskedTime {
  time: TimeToLog;
  job: Job;
  /** The date in the person's time zone when they asked. */
  today: string;
  languages: Languages;
  /** The command in Slack, `/pm`. */
  slash: string;
  mcp: McpConfig | undefined;
}

/** A task, date and note that a person may mean. */
export interface OfferedEntry extends Pick<ReadTask, 'task' | 'note' | 'before'> {
  date: string;
  /** Set if it differs from the duration that was typed first. */
  minutes?: number;
  /** True if words that look like a day stay in the note. */
  isKept?: boolean;
}

/** The Slack message if there is nothing to offer. */
export const saidBlocks = (said: string) => message(plainSection(`:warning: ${said}`)).blocks;

/** The space for a name on a button that also has a duration and a date. */
const NAME_LENGTH = 45;
const NAME_WITH_NOTE_LENGTH = 20;

/**
 * Creates the Slack message with a button for each possible command. Undefined if a command is too long for a button.
 * @param areDated true to show the date on each button, even today's
 */
export function offerBlocks(
  said: string,
  offered: readonly OfferedEntry[],
  { time, job, today }: AskedTime,
  { areDated = false } = {},
): readonly object[] | undefined {
  const isDated = areDated || offered.some(({ date }) => date !== today);
  const labels = labelsOf(offered, time.minutes, isDated);
  const buttons = offered.flatMap(({ task: { id }, date, note, isKept, minutes = time.minutes }, index) => {
    const task = String(id);
    const log = { verb: 'log', minutes, day: date, task, isId: true, note } as const;
    // With the same event, only one of two offers would be logged.
    const happened = `${job.id} ${task} ${date} ${index}`;
    const value = { command: printLog(log), happened, from: placeOf(job) };
    const when = date === today ? 'today' : `on ${date}`;
    const kept = `Log ${printDuration(minutes)} ${when}, with the note “${note}”`;
    return runButton(isKept ? kept : (labels[index] ?? ''), value, index);
  });
  if (buttons.length < offered.length) return undefined;
  const [note, ...others] = new Set(offered.flatMap((one) => (one.isKept ? [] : [one.note])));
  const which = offered.some(({ isKept }) => isKept)
    ? 'The entry for that day has the note'
    : 'The entry then has the note';
  const one = note === undefined ? '' : ` ${which} ${excerpt(note)}.`;
  const noted = others.length > 0 ? " Other words than the task's name become the note." : one;
  return message(
    plainSection(`:warning: ${sentence(said)}${said.endsWith('?') ? '' : ` ${didYouMean(offered)}`}${noted}`),
    ...buttons,
  ).blocks;
}

/** Labels offers by task name, equal names by id, and two readings of one task by their notes. */
function labelsOf(offered: readonly OfferedEntry[], typed: number, isDated: boolean): string[] {
  const labelOf = (what: string, { date, minutes = typed }: OfferedEntry) =>
    `Log ${printDuration(minutes)} on ${what}${isDated ? `, ${date}` : ''}`;
  const forms: ((reading: OfferedEntry) => string)[] = [
    ({ task: { name } }) => cutToLength(name, NAME_LENGTH, '…'),
    ({ task: { id } }) => cutToLength(String(id), NAME_LENGTH, '…'),
    ({ task: { name }, note = 'no note' }) =>
      [name, note].map((text) => cutToLength(text, NAME_WITH_NOTE_LENGTH, '…')).join(': '),
  ];
  const labels = forms.map((form) => offered.map((reading) => labelOf(form(reading), reading)));
  const isUnique = (label: string | undefined, among: readonly string[]) =>
    among.filter((other) => other === label).length === 1;
  return offered.map((_, index) => {
    const unique = labels.find((some) => isUnique(some[index], some)) ?? labels.at(-1);
    return unique?.[index] ?? '';
  });
}
