import type * as z from 'zod/mini';
import { parseCommand } from '../automations/verbs.ts';
import { printDuration } from '../commands/duration.ts';
import { explained } from '../slack/explained.ts';
import { accountToLink, LINK_BUTTON, OPEN_BUTTON } from '../slack/link-messages.ts';
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
import { makeLink } from './link-account.ts';
import { openLogTimeModal, openProjectModal, openToolModal } from './open-modal.ts';
import { receiveCommandButton } from './receive-command.ts';
import type { SlackIntake } from './slack-intake.ts';

/** The missing time in a reminder goes out of date, because the person may have logged it since. */
const PROPOSED_FOR_MS = 12 * 3_600_000;

/** Handles a button press. */
export async function receiveButton(press: ButtonPress, intake: SlackIntake): Promise<void> {
  const held = <T>(schema: z.core.$ZodType<T>) => readOwn(`the button ${press.actionId}`, press.value, schema);
  switch (press.actionId) {
    case RUN_COMMAND_BUTTON: {
      const { command: text, happened, again } = held(commandOfButton);
      const parsed = parseCommand(text);
      if ('fault' in parsed) throw new SlackRequestError('the button holds no command');
      return tell(
        await receiveCommandButton({ ...press, command: parsed.command, happened }, again, intake),
        'instead',
      );
    }
    case LOG_TIME_BUTTON: {
      const { connection, task } = held(taskToLog);
      const fault = await logFault({ ...press, connection });
      if (fault) return tell(warning(fault), 'beside');
      return tell(await openLogTimeModal(press, { connection, on: task }, intake), 'beside');
    }
    case LOG_ON_PROJECT_BUTTON: {
      const on = held(projectToLog);
      const fault = await logFault({ ...press, connection: on.connection });
      if (fault) return tell(warning(fault), 'beside');
      return tell(await openProjectModal(press, on, intake), 'beside');
    }
    case LOG_REST_BUTTON: {
      const { connection, date, minutes, at = 0, tasks } = held(restOfDay);
      // The channel of the reminder does not matter.
      const fault = await logFault({ userId: press.userId, connection });
      if (fault) return tell(warning(fault), 'beside');
      const isRecent = intake.clock() - at < PROPOSED_FOR_MS;
      const duration = minutes > 0 && isRecent ? { duration: printDuration(minutes) } : {};
      return tell(await openLogTimeModal(press, { connection, on: tasks, date, ...duration }, intake), 'beside');
    }
    case TOOL_BUTTON: {
      const tool = held(toolToFill);
      const fault = await explained(intake.config.contact, () =>
        intake.permissions.faultOf('do', { ...press, connection: tool.connection }),
      );
      if (fault) return tell(warning(fault), 'beside');
      return tell(await openToolModal(press, tool, intake), 'beside');
    }
    case LINK_BUTTON:
      return tell(await makeLink(press, held(accountToLink), intake), 'beside');
    case OPEN_BUTTON:
      return;
    case MUTE_BUTTON:
      await intake.mutes.mute(press.userId, press.value);
      return tell(message(plainSection(`:no_bell: You will get no more reminders for ${press.value}.`)), 'beside');
    default:
      throw new SlackRequestError('the button does not belong to the relay');
  }

  function logFault(asked: { userId: string; channelId?: string; connection: string }): Promise<string | undefined> {
    return explained(intake.config.contact, () => intake.permissions.faultOf('log', asked));
  }

  async function tell(said: SlackMessage | undefined, where: 'instead' | 'beside'): Promise<void> {
    if (said && press.responseUrl !== undefined)
      await intake.responseUrls.respond(press.responseUrl, said, where, ANSWER_TIMEOUT_MS);
  }
}
