import { printCommand } from '../../automations/verbs.ts';
import type { CommandFault } from '../../commands/fault.ts';
import { parkKindOf } from '../../engine/line/next-step.ts';
import { parkForPerson } from '../../engine/record/in-plain-words.ts';
import type { Job } from '../../engine/record/job.ts';
import { runButton } from '../../platforms/slack/command-button.ts';
import { message, plainSection, type SlackMessage, section } from '../../platforms/slack/messages.ts';
import { code, escaped } from '../../platforms/slack/mrkdwn.ts';
import type { SlackCommand } from '../../platforms/slack/requests/request.ts';
import type { SlackIntake } from './slack-intake.ts';
import type { GivenCommand } from './slack-origin.ts';

/** Says why a command cannot be read, with a button for each command that may be meant. */
export function faultMessage(
  { fault, suggestions = [] }: CommandFault,
  { triggerId }: SlackCommand,
  { settings }: SlackIntake,
): SlackMessage {
  const told = plainSection(`:warning: ${fault}`);
  const meant = suggestions.map((suggestion) => section(code(`${settings.command} ${suggestion}`)));
  const buttons = suggestions.flatMap((command, index) => {
    const value = { command, happened: `${triggerId} ${index}`, again: false };
    return runButton(suggestions.length === 1 ? 'Do that' : command, value, index);
  });
  return message([told, ...meant], ...buttons);
}

/** Asks before a command runs that may be a mistake; undefined if it is too long for a button. */
export function questionBefore(
  { command, happened }: GivenCommand,
  doubt: string,
  { settings }: SlackIntake,
): SlackMessage | undefined {
  const typed = printCommand(command, settings.languages);
  const buttons = runButton('Do that', { command: typed, happened, again: false });
  const asked = section(`:question: ${doubt} Do you mean ${code(`${settings.command} ${typed}`)}?`);
  return buttons.length === 0 ? undefined : message(asked, ...buttons);
}

/**
 * Tells the person about the same command of a moment ago. If it could not be done, it is tried again: that is what the
 * person wants, and it makes nothing twice. Otherwise they are asked whether to run it once more.
 */
export async function answerRepeat(
  { command: given, happened, userId }: GivenCommand,
  { first, saidAt }: { first: Job; saidAt: number },
  intake: SlackIntake,
): Promise<SlackMessage> {
  const command = printCommand(given, intake.settings.languages);
  const seconds = Math.max(1, Math.round((intake.clock() - saidAt) / 1000));
  const before = `You already ran ${code(`${intake.settings.command} ${command}`)} ${seconds} s ago`;
  const isParked = first.status === 'parked';
  const isUnknown = isParked && parkKindOf(first) === 'outcome unknown';
  if (isParked && !isUnknown && (await intake.tryAgain(first, userId))) {
    const why = parkForPerson[parkKindOf(first)];
    return message(
      section(`:hourglass_flowing_sand: ${before}. It could not be done: ${why}. The relay tries it again now.`),
    );
  }
  const became = isUnknown
    ? ` It is not known whether the service carried it out, and ${escaped(intake.config.contact)} can find out. Look in the service before you run it again, or it may be done twice.`
    : whatBecame(first);
  const asked = `:question: ${before}.${became} Run it again?`;
  return message(section(asked), ...runButton('Run again', { command, happened, again: true }));
}

function whatBecame({ status, notDone, outcome }: Job): string {
  if (status === 'succeeded')
    return notDone ? ` It was not done: ${code(outcome ?? '')}.` : ` It is done: ${code(outcome ?? '')}.`;
  return ' It is not finished yet.';
}
