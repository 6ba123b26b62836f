import type { AnsweredCommand } from '../../automations/verbs.ts';
import type { JobDraft } from '../../engine/record/job.ts';
import { type ReadTurns, tooMany } from '../../people/turns.ts';
import { commandOfButton } from '../../platforms/slack/command-button.ts';
import { notOffered } from '../../platforms/slack/link-messages.ts';
import { message, type SlackMessage, section, warning } from '../../platforms/slack/messages.ts';
import { code, escaped, plain } from '../../platforms/slack/mrkdwn.ts';
import { readOwn } from '../../platforms/slack/requests/fields.ts';
import type { ButtonPress } from '../../platforms/slack/requests/interaction.ts';
import type { SlackCommand } from '../../platforms/slack/requests/request.ts';
import { connectionOf, type SlackIntake, STOPPED } from './slack-intake.ts';
import { type GivenCommand, slackOrigin } from './slack-origin.ts';

/** Answers a typed command. An empty answer means that a modal was opened. */
export async function receiveCommand(
  typed: SlackCommand,
  readBefore: ReadTurns,
  intake: SlackIntake,
): Promise<SlackMessage | undefined> {
  const { settings, verbs } = intake;
  const parsed = verbs.parse(plain(typed.text), settings.languages);
  if ('fault' in parsed) return (await import('./loaded-on-demand.ts')).faultMessage(parsed, typed, intake);
  const given: GivenCommand = {
    ...typed,
    command: parsed.command,
    happened: typed.triggerId,
    readBefore,
    isTyped: true,
  };
  const { said, works } = await carryOut(given, intake);
  if (!works) return said;
  const text = `${settings.command} ${verbs.print(parsed.command)}`;
  const now = intake.isStopped ? `:double_vertical_bar: ${STOPPED} Saved` : ':hourglass_flowing_sand: Working on it';
  return message(section(`${now}, understood as ${code(text)}`));
}

/**
 * Runs the command of a button. If a job starts, the button stays until the outcome replaces it: a message from here
 * could arrive after the outcome and hide it.
 */
export async function receiveCommandButton(press: ButtonPress, intake: SlackIntake): Promise<void> {
  const { command, happened, from, isSure } = readOwn(`the button ${press.actionId}`, press.value, commandOfButton);
  const parsed = intake.verbs.parse(command, intake.settings.languages);
  // A custom command may have been changed or removed since the button was shown.
  const { said } =
    'fault' in parsed
      ? { said: warning(escaped(parsed.fault.replaceAll('{slash}', intake.settings.command))) }
      : await carryOut({ ...press, happened, command: parsed.command, from, isSure }, intake);
  if (said) await intake.responseUrls.respond(press.responseUrl, said, 'instead');
}

/**
 * Runs a command, unless the person may not use it or has to confirm it.
 * @returns the message for the person, and whether a job carries out the command
 */
async function carryOut(given: GivenCommand, intake: SlackIntake) {
  const { userId, channelId, from = { channelId } } = given;
  const verb = intake.verbs.of(given.command);
  const fault = await intake.faultOf(verb.permission, { userId, verb, ...from });
  if (fault !== undefined) return { said: warning(fault), works: false };
  const doubt = given.isTyped && verb.doubt?.(given.command, intake.clock());
  const question = doubt && (await import('./loaded-on-demand.ts')).questionBefore(given, doubt, intake);
  if (question) return { said: question, works: false };
  const draft = draftOf(given, intake);
  if (!draft) {
    // A `JobVerb` always has a job.
    return { said: await answer(given.command as AnsweredCommand, given, intake), works: false };
  }
  const isAccepted = (await intake.accept(draft, given)) !== 'too many';
  return { said: isAccepted ? undefined : warning(tooMany(intake.settings.command)), works: isAccepted };
}

/** Answers a command without a job, or opens the form that it needs first. */
async function answer(
  command: AnsweredCommand,
  given: GivenCommand,
  intake: SlackIntake,
): Promise<SlackMessage | undefined> {
  const connection = connectionOf(intake, given.channelId);
  switch (command.verb) {
    case 'help':
      return (await import('./loaded-on-demand.ts')).helpMessage(given, intake, command.about);
    case 'status':
      return (await import('./loaded-on-demand.ts')).statusMessage(given, intake);
    case 'link':
      return (
        (await intake.linking())?.linkAccount(given, { connection, code: command.code }) ?? notOffered(intake.config)
      );
    case 'unlink':
      return (await intake.linking())?.unlinkAccount(given.userId, connection) ?? notOffered(intake.config);
    case 'defect':
      return (await import('./loaded-on-demand.ts')).openDefectModal({ ...given, title: command.title }, intake);
    default:
      return command satisfies never;
  }
}

/** Returns the job of a command, or undefined if it has none. */
function draftOf(given: GivenCommand, intake: SlackIntake): JobDraft | undefined {
  const origin = slackOrigin(given, given.from?.connection ?? connectionOf(intake, given.channelId));
  const sure = given.isSure && { isSure: given.isSure };
  return intake.verbs.of(given.command).job?.(given.command, { ...origin, ...sure }, intake.config);
}
