import type * as z from 'zod/mini';
import {
  type AnsweredCommand,
  type Command,
  isAnswered,
  parseCommand,
  printCommand,
  verbOf,
} from '../../automations/verbs.ts';
import type { CommandFault } from '../../commands/fault.ts';
import { parkKindOf } from '../../engine/line/next-step.ts';
import { parkForPerson } from '../../engine/record/in-plain-words.ts';
import type { Job, JobDraft } from '../../engine/record/job.ts';
import { TOO_MANY } from '../../people/turns.ts';
import { commandOfButton, type placeAsked, runButton } from '../../platforms/slack/command-button.ts';
import { explained } from '../../platforms/slack/explained.ts';
import { message, plainSection, type SlackMessage, section, warning } from '../../platforms/slack/messages.ts';
import { code, escaped, plain } from '../../platforms/slack/mrkdwn.ts';
import { readOwn, SlackRequestError } from '../../platforms/slack/requests/fields.ts';
import type { ButtonPress } from '../../platforms/slack/requests/interaction.ts';
import type { SlackCommand } from '../../platforms/slack/requests/request.ts';
import { ANSWER_TIMEOUT_MS } from '../../platforms/slack/response-url.ts';
import { connectionOf, type SlackIntake, STOPPED } from './slack-intake.ts';
import { type SlackRequester, slackOrigin } from './slack-origin.ts';

/** A command, the person who gave it, and the place. */
export interface GivenCommand extends SlackRequester {
  command: Command;
  /** Opens a modal; valid for three seconds. */
  triggerId: string;
  channelId: string;
  /** Not in a button, whose label the person has read. */
  isTyped?: true;
  /** Set for a button in the message of a job: where the person asked for that. */
  from?: z.output<typeof placeAsked> | undefined;
}

/** Answers a typed command. An empty answer means that a modal was opened. */
export async function receiveCommand(typed: SlackCommand, intake: SlackIntake): Promise<SlackMessage | undefined> {
  const parsed = parseCommand(plain(typed.text), intake.settings.languages);
  if ('fault' in parsed) return faultMessage(parsed, typed, intake);
  const given: GivenCommand = { ...typed, command: parsed.command, happened: typed.triggerId, isTyped: true };
  const { said, works } = await carryOutOnce(given, intake);
  if (!works) return said;
  const text = `${intake.settings.command} ${printCommand(parsed.command, intake.settings.languages)}`;
  const connection = connectionOf(intake, typed.channelId);
  const waits = await intake.linking.waitsForLink(parsed.command.verb, typed.userId, connection);
  const working = section(
    intake.isStopped
      ? `:double_vertical_bar: ${STOPPED} This is kept: ${code(text)}`
      : `:hourglass_flowing_sand: Working on it: ${code(text)}`,
  );
  return message(waits === undefined ? working : [working, section(waits)]);
}

/**
 * Runs the command in a button that the relay showed instead of running it. If a job starts, the button stays until the
 * outcome replaces it: a message from here could arrive after that.
 */
export async function receiveCommandButton(press: ButtonPress, intake: SlackIntake): Promise<void> {
  const { command, happened, again, from } = readOwn(`the button ${press.actionId}`, press.value, commandOfButton);
  const parsed = parseCommand(command, intake.settings.languages);
  if ('fault' in parsed) throw new SlackRequestError('the button holds no command');
  const given = { ...press, happened, command: parsed.command, from };
  const said = again ? await carryOutAgain(given, intake) : (await carryOutOnce(given, intake)).said;
  if (said && press.responseUrl !== undefined)
    await intake.responseUrls.respond(press.responseUrl, said, 'instead', ANSWER_TIMEOUT_MS);
}

/** Runs a command that the person wants to run once more. */
async function carryOutAgain(given: GivenCommand, intake: SlackIntake): Promise<SlackMessage | undefined> {
  const fault = await refusal(given, intake);
  if (fault !== undefined) return warning(fault);
  const draft = draftOf(given, intake);
  const { said } = await carryOut(given, draft, intake);
  if (draft)
    await intake.recentCommands.noteAgain({
      ...given,
      command: printCommand(given.command, intake.settings.languages),
      sets: verbOf(given.command).sets?.(given.command),
      jobId: draft.id,
    });
  return said;
}

/** The message for the person, and whether a job works on the command. */
interface Answer {
  said: SlackMessage | undefined;
  works: boolean;
}

/** Runs a command, unless the person may not use it, gave it a moment ago, or has to confirm it. */
async function carryOutOnce(given: GivenCommand, intake: SlackIntake): Promise<Answer> {
  const fault = await refusal(given, intake);
  if (fault !== undefined) return { said: warning(fault), works: false };
  const question = given.isTyped && questionBefore(given, intake);
  if (question) return { said: question, works: false };
  const draft = draftOf(given, intake);
  if (!draft || !verbOf(given.command).asksBeforeRepeating) return carryOut(given, draft, intake);
  const command = printCommand(given.command, intake.settings.languages);
  const sets = verbOf(given.command).sets?.(given.command);
  const noted = await intake.recentCommands.note({ ...given, command, sets, jobId: draft.id });
  if ('first' in noted) return { said: await answerRepeat(command, given, noted, intake), works: false };
  const first = { ...given, happened: noted.happened };
  return carryOut(first, draftOf(first, intake), intake);
}

async function carryOut(given: GivenCommand, draft: JobDraft | undefined, intake: SlackIntake): Promise<Answer> {
  if (!draft) {
    if (!isAnswered(given.command)) throw new Error(`${given.command.verb} made no job`);
    return { said: await answer(given.command, given, intake), works: false };
  }
  if (given.command.verb === 'do') {
    const said = await intake.linking.linkFirst(given.userId, draft.connection);
    if (said) return { said, works: false };
  }
  if ((await intake.accept(draft, given)) === 'too many') return { said: warning(TOO_MANY), works: false };
  return { said: undefined, works: true };
}

/** Answers a command that has no job, or opens the form that it needs first. */
async function answer(
  command: AnsweredCommand,
  given: GivenCommand,
  intake: SlackIntake,
): Promise<SlackMessage | undefined> {
  switch (command.verb) {
    case 'help':
      return (await import('./beyond-jobs.ts')).helpMessage(given, intake);
    case 'status':
      return (await import('./beyond-jobs.ts')).statusMessage(given, intake);
    case 'link':
      return intake.linking.linkAccount(given, {
        connection: connectionOf(intake, given.channelId),
        code: command.code,
      });
    case 'unlink':
      return intake.linking.unlinkAccount(given.userId, connectionOf(intake, given.channelId));
    case 'defect':
      return (await import('./beyond-jobs.ts')).openDefectModal(
        { ...given, ...(command.title !== undefined && { title: command.title }) },
        intake,
      );
    default:
      return command satisfies never;
  }
}

/** @returns why the person may not use the command there, or undefined */
async function refusal(
  { command, userId, channelId, from }: GivenCommand,
  intake: SlackIntake,
): Promise<string | undefined> {
  const { permission } = verbOf(command);
  if (permission === null) return undefined;
  return explained(intake.config.contact, () =>
    intake.permissions.faultOf(permission, { userId, ...(from ?? { channelId }) }),
  );
}

/** The job of a command, or undefined if it has none. */
function draftOf(given: GivenCommand, intake: SlackIntake): JobDraft | undefined {
  const origin = slackOrigin(given, given.from?.connection ?? connectionOf(intake, given.channelId));
  return verbOf(given.command).job?.(given.command, origin, intake.config);
}

function faultMessage(
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

/** Asks before a command runs that may be a mistake; undefined if it is probably none, or too long for a button. */
function questionBefore(given: GivenCommand, { settings, clock }: SlackIntake): SlackMessage | undefined {
  const doubt = verbOf(given.command).doubt?.(given.command, clock());
  const command = printCommand(given.command, settings.languages);
  const value = { command, happened: given.happened, again: false };
  const buttons = doubt === undefined ? [] : runButton('Do that', value);
  const asked = section(`:question: ${doubt} Do you mean ${code(`${settings.command} ${command}`)}?`);
  return buttons.length === 0 ? undefined : message(asked, ...buttons);
}

/**
 * Says what became of the same command a moment ago. If it could not be done, it is tried again: that is what the
 * person wants, and it makes nothing twice. Otherwise they are asked whether to run it once more.
 */
async function answerRepeat(
  command: string,
  { happened, userId }: GivenCommand,
  { first, saidAt }: { first: Job; saidAt: number },
  intake: SlackIntake,
): Promise<SlackMessage> {
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
