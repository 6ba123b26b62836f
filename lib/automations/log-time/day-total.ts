import { printDuration } from '../../commands/duration.ts';
import { printLog } from '../../commands/log.ts';
import { addDays } from '../../dates.ts';
import { NotDone } from '../../engine/record/interruption.ts';
import { placeOf, runButton } from '../../platforms/slack/command-button.ts';
import { message, plainSection } from '../../platforms/slack/messages.ts';
import type { KnownDay } from '../../timesheets/known-timesheets.ts';
import type { AskedTime, OfferedEntry } from './offer-blocks.ts';

const DAY_MINUTES = 24 * 60;

/** Asks before a day gets more than 24 hours. @throws {NotDone} with a button in Slack that logs the time anyway */
export function ensureFits({ task, note, date }: OfferedEntry, known: KnownDay, asked: AskedTime): void {
  const { time, job, today } = asked;
  const sum = known.minutes + time.minutes;
  if (sum <= DAY_MINUTES || time.isSure) return;
  if (time.by.in === 'github') {
    throw new NotDone(
      `with this, ${date} would have more than 24 hours; ask for it in Slack, where you can confirm it`,
    );
  }
  const before = printDuration(known.minutes);
  const already = known.isAll ? `${before} are logged already` : `Partner Relay has logged ${before} already`;
  const fault = `with this, ${date} would have ${printDuration(sum)}: ${already}`;
  const said = `With this, ${dayInWords(date, today)} would have ${printDuration(sum)}: ${already}.`;
  const log = { verb: 'log', minutes: time.minutes, day: date, task: String(task.id), isId: true, note } as const;
  const value = { command: printLog(log), happened: `${job.id} anyway`, from: placeOf(job) };
  const buttons = runButton(`Log ${printDuration(time.minutes)} anyway`, { ...value, isSure: true });
  throw new NotDone(fault, message(plainSection(`:warning: ${said}`), ...buttons).blocks);
}

/**
 * Returns `. That makes 6h of 8h today`, including the new entry; empty if the total is unknown. The target is known
 * only for people with a team.
 */
export function totalInWords({ minutes, isAll, expected }: KnownDay, more: number, day: string): string {
  if (!isAll) return '';
  const target = expected ? ` of ${printDuration(expected)}` : '';
  return `. That makes ${printDuration(minutes + more)}${target} ${day}`;
}

export function dayInWords(date: string, now: string): string {
  if (date === now) return 'today';
  return date === addDays(now, -1) ? 'yesterday' : date;
}
