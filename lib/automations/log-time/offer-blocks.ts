import type { Languages } from '../../commands/day-like.ts';
import { printDuration } from '../../commands/duration.ts';
import { printLog } from '../../commands/log.ts';
import type { Job } from '../../engine/record/job.ts';
import { runButton } from '../../platforms/slack/command-button.ts';
import { message, plainSection, sentence } from '../../platforms/slack/messages.ts';
import { cutToLength } from '../../text.ts';
import type { TimeToLog } from './draft.ts';
import type { ReadTask } from './find-task.ts';

/** Time that a person asked to log, and what is needed to read it. */
export interface AskedTime {
  time: TimeToLog;
  job: Job;
  /** The person's. */
  timeZone: string;
  languages: Languages;
}

/** The task, the date and the note that a person means. */
export interface Reading extends ReadTask {
  date: string;
}

/** The message in Slack where there is nothing to offer. */
export const saidBlocks = (said: string) => message(plainSection(`:warning: ${said}`)).blocks;

/** Leaves room in a button for the duration and the date. */
const NAME_LENGTH = 45;

/** The message in Slack: a button for each command that may be meant. Undefined if one is too long for a button. */
export function offerBlocks(
  said: string,
  offered: readonly Reading[],
  { time: { minutes, day }, job, languages }: AskedTime,
): readonly object[] | undefined {
  const isToday = day === 'today' && new Set(offered.map(({ date }) => date)).size === 1;
  const labelOf = (what: string, date: string) =>
    `Log ${printDuration(minutes)} on ${what}${isToday ? '' : `, ${date}`}`;
  const labels = offered.map(({ task: { name }, date }) => labelOf(cutToLength(name, NAME_LENGTH, '…'), date));
  const buttons = offered.flatMap(({ task: { id }, date, note }, index) => {
    const task = String(id);
    const command = printLog({ verb: 'log', minutes, day: date, task, ...(note !== undefined && { note }) }, languages);
    const isUnique = labels.filter((label) => label === labels[index]).length === 1;
    const value = { command, happened: `${job.id} ${task} ${date}`, again: false, connection: job.connection };
    return runButton(isUnique ? (labels[index] ?? '') : labelOf(task, date), value, index);
  });
  if (buttons.length < offered.length) return undefined;
  const question = offered.length === 1 ? 'Did you mean this?' : 'Did you mean one of these?';
  return message(plainSection(`:warning: ${sentence(said)} ${question}`), ...buttons).blocks;
}
