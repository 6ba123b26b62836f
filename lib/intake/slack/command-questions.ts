import type { CommandFault } from '../../commands/fault.ts';
import { runButton } from '../../platforms/slack/command-button.ts';
import { message, plainSection, type SlackMessage, section } from '../../platforms/slack/messages.ts';
import { code } from '../../platforms/slack/mrkdwn.ts';
import type { SlackCommand } from '../../platforms/slack/requests/request.ts';
import { usableVerbs } from './help.ts';
import type { SlackIntake } from './slack-intake.ts';
import type { GivenCommand } from './slack-origin.ts';

/** Explains why a command cannot be read, with a button for each possible command. */
export async function faultMessage(
  { fault, suggestions = [], isUnknown }: CommandFault,
  { triggerId, ...place }: SlackCommand,
  intake: SlackIntake,
): Promise<SlackMessage> {
  const { settings } = intake;
  const usable = isUnknown ? (await usableVerbs(place, intake)).map(({ verb }) => verb) : [];
  const told = plainSection(
    `:warning: ${fault.replaceAll('{slash}', settings.command)}${isUnknown ? ` There are: ${usable.join(', ')}.` : ''}`,
  );
  const meant = suggestions.map((suggestion) => section(code(`${settings.command} ${suggestion}`)));
  const buttons = suggestions.flatMap((command, index) => {
    const value = { command, happened: `${triggerId} ${index}` };
    return runButton(`Run ${settings.command} ${command}`, value, index);
  });
  return message([told, ...meant], ...buttons);
}

/** Asks for confirmation before a command that may be a mistake; undefined if the command is too long for a button. */
export function questionBefore(
  { command, happened }: GivenCommand,
  doubt: string,
  { settings, verbs }: SlackIntake,
): SlackMessage | undefined {
  const typed = verbs.print(command);
  const buttons = runButton(`Run ${settings.command} ${typed}`, { command: typed, happened });
  const asked = section(`:question: ${doubt} Run ${code(`${settings.command} ${typed}`)} anyway?`);
  return buttons.length === 0 ? undefined : message(asked, ...buttons);
}
