import { type Command, parseCommand, printCommand, verbOf } from '../automations/verbs.ts';
import type { Fault } from '../commands/fault.ts';
import type { JobDraft } from '../jobs/job.ts';
import { TOO_MANY } from '../people/turns.ts';
import { explained } from '../slack/explained.ts';
import { message, plainSection, type SlackMessage, section, warning } from '../slack/messages.ts';
import { code, plain } from '../slack/mrkdwn.ts';
import type { SlackCommand } from '../slack/request.ts';
import { runButton } from './command-button.ts';
import { helpMessage, statusMessage } from './help.ts';
import { linkAccount, unlinkAccount } from './link-account.ts';
import { openDefectModal } from './open-modal.ts';
import { connectionOf, type SlackIntake } from './slack-intake.ts';
import { type SlackRequester, slackOrigin } from './slack-origin.ts';

/** A command, and who gave it where. */
export interface GivenCommand extends SlackRequester {
  command: Command;
  /** To open a modal with, for three seconds. */
  triggerId: string;
  channelId: string;
}

/** Answers what somebody typed. Nothing is an answer too: a modal was opened. */
export async function receiveCommand(typed: SlackCommand, intake: SlackIntake): Promise<SlackMessage | undefined> {
  const parsed = parseCommand(plain(typed.text));
  if ('fault' in parsed) return faultMessage(parsed, typed, intake);
  const given: GivenCommand = { ...typed, command: parsed.command, happened: typed.triggerId };
  const { said, works } = await carryOutOnce(given, intake);
  if (!works) return said;
  const text = `${intake.settings.command} ${printCommand(parsed.command)}`;
  return message(section(`:hourglass_flowing_sand: Working on it: ${code(text)}`));
}

/**
 * Does what a button says that was shown instead of doing it. Where it works on it there is nothing to say yet: the
 * outcome replaces the button, and what is said here could come after it.
 *
 * @param again whether the person was asked, and wants it done once more
 */
export async function receiveCommandButton(
  given: GivenCommand,
  again: boolean,
  intake: SlackIntake,
): Promise<SlackMessage | undefined> {
  if (!again) return (await carryOutOnce(given, intake)).said;
  const fault = await refusal(given, intake);
  if (fault !== undefined) return warning(fault);
  const draft = draftOf(given, intake);
  const { said } = await carryOut(given, draft, intake);
  if (draft) await intake.recentCommands.noteAgain({ ...given, command: printCommand(given.command), jobId: draft.id });
  return said;
}

/** What there is to say, and whether a job works on the command. */
interface Answer {
  said: SlackMessage | undefined;
  works: boolean;
}

/** Carries out a command, unless the person may not give it, or gave the very same one a moment ago. */
async function carryOutOnce(given: GivenCommand, intake: SlackIntake): Promise<Answer> {
  const fault = await refusal(given, intake);
  if (fault !== undefined) return { said: warning(fault), works: false };
  const draft = draftOf(given, intake);
  if (!draft || !verbOf(given.command).asksBeforeRepeating) return carryOut(given, draft, intake);
  const command = printCommand(given.command);
  const noted = await intake.recentCommands.note({ ...given, command, jobId: draft.id });
  if ('saidAt' in noted) return { said: repeatQuestion(command, given, noted.saidAt, intake), works: false };
  const first = { ...given, happened: noted.happened };
  return carryOut(first, draftOf(first, intake), intake);
}

async function carryOut(given: GivenCommand, draft: JobDraft | undefined, intake: SlackIntake): Promise<Answer> {
  if (!draft) return { said: await answer(given, intake), works: false };
  if ((await intake.accept(draft, given.userId)) === 'too many') return { said: warning(TOO_MANY), works: false };
  return { said: undefined, works: true };
}

/** Answers a command without a job, or opens the form that it needs first. */
async function answer(given: GivenCommand, intake: SlackIntake): Promise<SlackMessage | undefined> {
  const { command } = given;
  switch (command.verb) {
    case 'help':
      return helpMessage(intake.settings.command);
    case 'status':
      return statusMessage(given, intake);
    case 'link':
      return linkAccount(given, { connection: connectionOf(intake, given.channelId), code: command.code }, intake);
    case 'unlink':
      return unlinkAccount(given, connectionOf(intake, given.channelId), intake);
    case 'defect':
      return openDefectModal({ ...given, ...(command.title !== undefined && { title: command.title }) }, intake);
    default:
      throw new Error(`${command.verb} has neither a job nor an answer`);
  }
}

/** @returns why the person may not give the command there */
async function refusal({ command, ...asked }: GivenCommand, intake: SlackIntake): Promise<string | undefined> {
  const { permission } = verbOf(command);
  if (permission === null) return undefined;
  return explained(intake.config.contact, () => intake.permissions.faultOf(permission, asked));
}

/** The job of a command, or undefined for one that has none. */
function draftOf(given: GivenCommand, intake: SlackIntake): JobDraft | undefined {
  const origin = slackOrigin(given, connectionOf(intake, given.channelId));
  return verbOf(given.command).job?.(given.command, origin, intake.config);
}

function faultMessage(
  { fault, suggestion }: Fault,
  { triggerId }: SlackCommand,
  { settings }: SlackIntake,
): SlackMessage {
  const told = plainSection(`:warning: ${fault}`);
  if (suggestion === undefined) return message(told);
  const meant = section(code(`${settings.command} ${suggestion}`));
  const value = { command: suggestion, happened: triggerId, again: false };
  return message([told, meant], ...runButton('Do that', value));
}

function repeatQuestion(
  command: string,
  { happened }: GivenCommand,
  earlier: number,
  intake: SlackIntake,
): SlackMessage {
  const seconds = Math.max(1, Math.round((intake.clock() - earlier) / 1000));
  const text = code(`${intake.settings.command} ${command}`);
  const asked = `:question: You gave ${text} ${seconds} s ago already. Do you want it done once more?`;
  return message(section(asked), ...runButton('Do it once more', { command, happened, again: true }));
}
