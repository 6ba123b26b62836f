import * as z from 'zod/mini';
import { type CommandPlace, commandJob, type JobCommand } from '../automations/command-job.ts';
import { CREATE_DEFECT, type DefectToCreate } from '../automations/create-defect.ts';
import { type Command, type ParsedCommand, parseCommand, printCommand } from '../commands/command.ts';
import { type JobDraft, jobId, type ReplyTo } from '../jobs/job.ts';
import { TOO_MANY } from '../people/turns.ts';
import { explained } from '../slack/explained.ts';
import {
  button,
  MAX_BUTTON_VALUE_LENGTH,
  message,
  plainSection,
  type SlackMessage,
  section,
  warning,
} from '../slack/messages.ts';
import { code, plain } from '../slack/mrkdwn.ts';
import type { SlackCommand } from '../slack/request.ts';
import { cutToLength } from '../text.ts';
import { helpMessage, statusMessage } from './help.ts';
import { openDefectModal } from './open-modal.ts';
import { connectionOf, type Desk } from './slack-intake.ts';

/** A button that gives the command which is its value. */
export const RUN_COMMAND_BUTTON = 'run-command';

/** Its value. */
export const commandOfButton = z.object({ command: z.string(), happened: z.string(), again: z.boolean() });
type CommandOfButton = z.output<typeof commandOfButton>;

/** A command, and where somebody gave it. */
export interface GivenCommand {
  command: Command;
  /** What makes it this command and no other. */
  happened: string;
  /** To open a modal with, for three seconds. */
  triggerId: string;
  userId: string;
  userName: string;
  channelId: string;
  responseUrl?: string | undefined;
}

/** Answers what somebody typed. Nothing is an answer too: a modal was opened. */
export async function receiveCommand(typed: SlackCommand, desk: Desk): Promise<SlackMessage | undefined> {
  const parsed = parseCommand(plain(typed.text));
  if ('fault' in parsed) return faultMessage(parsed, typed, desk);
  const given: GivenCommand = { ...typed, command: parsed.command, happened: typed.triggerId };
  const fault = await refusal(given, desk);
  if (fault !== undefined) return warning(fault);
  const checked = await checkRepeat(given, desk);
  if ('question' in checked) return checked.question;
  const { said, works } = await carryOut(checked, desk);
  const { command } = desk.settings;
  return works
    ? message(section(`:hourglass_flowing_sand: Working on it: ${code(`${command} ${printCommand(parsed.command)}`)}`))
    : said;
}

/**
 * Does what a button says that was shown instead of doing it. Where it works on it there is nothing to say yet: the
 * outcome takes the place of the button, and whatever were said here could come after it.
 *
 * @param again whether the person was asked, and wants it done once more
 */
export async function receiveCommandButton(
  given: GivenCommand,
  again: boolean,
  desk: Desk,
): Promise<SlackMessage | undefined> {
  const fault = await refusal(given, desk);
  if (fault !== undefined) return warning(fault);
  const checked = again ? given : await checkRepeat(given, desk);
  if ('question' in checked) return checked.question;
  const { said } = await carryOut(checked, desk);
  const jobId = again ? draftOf(given, desk)?.id : undefined;
  if (jobId !== undefined) await desk.saidBefore.noteAgain({ ...given, command: printCommand(given.command), jobId });
  return said;
}

/**
 * Looks whether the very same command was given a moment ago.
 * @returns the question whether it is meant to be carried out once more, or the command to carry out
 */
async function checkRepeat(given: GivenCommand, desk: Desk): Promise<GivenCommand | { question: SlackMessage }> {
  const jobId = draftOf(given, desk)?.id;
  if (jobId === undefined || given.command.verb === 'find') return given;
  const command = printCommand(given.command);
  const noted = await desk.saidBefore.note({ ...given, command, jobId });
  if ('happened' in noted) return { ...given, happened: noted.happened };
  return { question: repeatQuestion(command, given, noted.saidAt, desk) };
}

/** Does what a command says, or makes the job that does. @returns what there is to say, and whether a job works on it */
async function carryOut(given: GivenCommand, desk: Desk): Promise<{ said: SlackMessage | undefined; works: boolean }> {
  const { command } = given;
  const answered = (said: SlackMessage | undefined) => ({ said, works: false });
  if (command.verb === 'help') return answered(helpMessage(desk.settings.command));
  if (command.verb === 'status') return answered(await statusMessage(given, desk));
  const draft = draftOf(given, desk);
  if (!draft) {
    const title = command.verb === 'defect' ? command.title : undefined;
    return answered(await openDefectModal({ ...given, ...(title !== undefined && { title }) }, desk));
  }
  if ((await desk.accept(draft, given.userId)) === 'too many') return answered(warning(TOO_MANY));
  return { said: undefined, works: true };
}

/** @returns why the command may not be given there by that person */
async function refusal({ command, ...asked }: GivenCommand, desk: Desk): Promise<string | undefined> {
  if (command.verb === 'help' || command.verb === 'status') return undefined;
  const verb = command.verb === 'undo' ? 'done' : command.verb;
  return explained(desk.config.contact, () => desk.permissions.faultOf(verb, asked));
}

/** The job of a command, or undefined for one that is none. */
function draftOf(given: GivenCommand, desk: Desk): JobDraft | undefined {
  const { command, userId, channelId, responseUrl, happened } = given;
  if (command.verb === 'help' || command.verb === 'status') return undefined;
  const replyTo: ReplyTo = { in: 'slack', userId, ...(responseUrl !== undefined && { responseUrl }) };
  const connection = connectionOf(desk, channelId);
  if (command.verb === 'defect') {
    const projectId = desk.settings.channels[channelId]?.projectId;
    if (command.title === undefined || projectId === undefined) return undefined;
    const { types, priorities, severities } = desk.settings.defect;
    const fields = { type: types[0], priority: priorities[0], severity: severities[0] };
    return defectJob(
      { ...given, replyTo, connection },
      { projectId, title: command.title, description: '', ...fields },
    );
  }
  return commandJob(command, slackPlace({ userId, happened, connection, replyTo }, command.verb));
}

/** Where a command of Slack was given. */
export function slackPlace(
  asked: { userId: string; happened: string; connection: string; replyTo: ReplyTo },
  verb: JobCommand['verb'],
): CommandPlace {
  const { userId, happened, connection, replyTo } = asked;
  const by = { in: 'slack', id: userId } as const;
  const place = {
    happened: [happened],
    by,
    connection,
    lane: 'interactive',
    entity: `slack-${userId}`,
    replyTo,
  } as const;
  // Whoever only looks for something does not wait for what they asked before.
  return verb === 'find' ? { ...place, group: `slack-${userId}-find` } : place;
}

/** The job of a defect that somebody asks for in Slack. */
export function defectJob(
  asked: { happened: string; userId: string; userName: string; connection: string; replyTo: ReplyTo },
  defect: { [Field in keyof Omit<DefectToCreate, 'origin'>]: DefectToCreate[Field] | undefined } & {
    permalink?: string | undefined;
  },
): JobDraft {
  const { permalink, ...fields } = defect;
  const origin = `Created in Slack by @${asked.userName}${permalink ? `, from ${permalink}` : ''}`;
  return {
    id: jobId(CREATE_DEFECT, asked.happened),
    automation: CREATE_DEFECT,
    connection: asked.connection,
    lane: 'interactive',
    entity: `slack-${asked.userId}`,
    summary: `${asked.userId}: defect ${cutToLength(fields.title ?? '', 200, '…')}`,
    input: { ...fields, origin, verb: 'defect' },
    replyTo: asked.replyTo,
  };
}

function faultMessage(
  { fault, suggestion }: Extract<ParsedCommand, { fault: string }>,
  typed: SlackCommand,
  { settings }: Desk,
): SlackMessage {
  const told = plainSection(`:warning: ${fault}`);
  if (suggestion === undefined) return message(told);
  const meant = section(code(`${settings.command} ${suggestion}`));
  return message([told, meant], ...runButton('Do that', suggestion, typed.triggerId, false));
}

function repeatQuestion(text: string, given: GivenCommand, earlier: number, { clock, settings }: Desk): SlackMessage {
  const seconds = Math.max(1, Math.round((clock() - earlier) / 1000));
  const asked = `:question: You gave ${code(`${settings.command} ${text}`)} ${seconds} s ago already. Do you want it done once more?`;
  return message(section(asked), ...runButton('Do it once more', text, given.happened, true));
}

/** A button that gives that command as the event which brought the button about, however often it is pressed. */
function runButton(label: string, command: string, happened: string, again: boolean) {
  const value = JSON.stringify({ command, happened, again } satisfies CommandOfButton);
  return value.length <= MAX_BUTTON_VALUE_LENGTH ? [button(label, RUN_COMMAND_BUTTON, value, 'primary')] : [];
}
