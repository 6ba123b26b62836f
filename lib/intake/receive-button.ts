import type * as z from 'zod/mini';
import { parseCommand } from '../automations/verbs.ts';
import { printDuration } from '../commands/duration.ts';
import { explained } from '../slack/explained.ts';
import { message, plainSection, type SlackMessage, warning } from '../slack/messages.ts';
import { type ButtonPress, readOwn, SlackRequestError } from '../slack/request.ts';
import { ANSWER_TIMEOUT_MS } from '../slack/response-url.ts';
import { TOOL_BUTTON, toolToFill } from '../slack/tool-views.ts';
import {
  LOG_ON_PROJECT_BUTTON,
  LOG_REST_BUTTON,
  LOG_TIME_BUTTON,
  MUTE_BUTTON,
  projectToLog,
  restOfDay,
  taskToLog,
} from '../slack/views.ts';
import { commandOfButton, RUN_COMMAND_BUTTON } from './command-button.ts';
import { openLogTimeModal, openProjectModal, openToolModal } from './open-modal.ts';
import { receiveCommandButton } from './receive-command.ts';
import type { Desk } from './slack-intake.ts';

/** What was missing when the reminder went out is no proposal for long: the person may have logged it since. */
const PROPOSED_FOR_MS = 12 * 3_600_000;

/** Does what a button says. */
export async function receiveButton(press: ButtonPress, desk: Desk): Promise<void> {
  const held = <T>(schema: z.core.$ZodType<T>) => readOwn(`the button ${press.actionId}`, press.value, schema);
  switch (press.actionId) {
    case RUN_COMMAND_BUTTON: {
      const { command: text, happened, again } = held(commandOfButton);
      const parsed = parseCommand(text);
      if ('fault' in parsed) throw new SlackRequestError('the button holds no command');
      return tell(await receiveCommandButton({ ...press, command: parsed.command, happened }, again, desk), 'instead');
    }
    case LOG_TIME_BUTTON: {
      const { connection, task } = held(taskToLog);
      const fault = await logFault(press);
      if (fault) return tell(warning(fault), 'beside');
      return tell(await openLogTimeModal(press, { connection, on: task }, desk), 'beside');
    }
    case LOG_ON_PROJECT_BUTTON: {
      const fault = await logFault(press);
      if (fault) return tell(warning(fault), 'beside');
      return tell(await openProjectModal(press, held(projectToLog), desk), 'beside');
    }
    case LOG_REST_BUTTON: {
      const { connection, date, minutes, at = 0, tasks } = held(restOfDay);
      // Wherever the reminder is.
      const fault = await logFault({ userId: press.userId });
      if (fault) return tell(warning(fault), 'beside');
      const isRecent = desk.clock() - at < PROPOSED_FOR_MS;
      const duration = minutes > 0 && isRecent ? { duration: printDuration(minutes) } : {};
      return tell(await openLogTimeModal(press, { connection, on: tasks, date, ...duration }, desk), 'beside');
    }
    case TOOL_BUTTON: {
      const fault = await explained(desk.config.contact, () => desk.permissions.faultOf('do', press));
      if (fault) return tell(warning(fault), 'beside');
      return tell(await openToolModal(press, held(toolToFill), desk), 'beside');
    }
    case MUTE_BUTTON:
      await desk.mutes.mute(press.userId, press.value);
      return tell(message(plainSection(`:no_bell: You will not be reminded of ${press.value} any more.`)), 'beside');
    default:
      throw new SlackRequestError('the button is none of the relay');
  }

  function logFault(asked: { userId: string; channelId?: string }): Promise<string | undefined> {
    return explained(desk.config.contact, () => desk.permissions.faultOf('log', asked));
  }

  async function tell(said: SlackMessage | undefined, where: 'instead' | 'beside'): Promise<void> {
    if (said && press.responseUrl !== undefined)
      await desk.responseUrls.respond(press.responseUrl, said, where, ANSWER_TIMEOUT_MS);
  }
}
