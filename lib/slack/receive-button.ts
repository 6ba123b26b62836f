import * as z from 'zod';
import { parseCommand } from '../commands/command.ts';
import { printDuration } from '../commands/duration.ts';
import type { Desk } from './desk.ts';
import { message } from './messages.ts';
import { escaped } from './mrkdwn.ts';
import { openLogTimeModal, openProjectModal } from './open-modal.ts';
import { channelFault } from './permissions.ts';
import { carryOutCommand, RUN_COMMAND_BUTTON } from './receive-command.ts';
import { type ButtonPress, SlackRequestError } from './request.ts';
import { respond } from './response-url.ts';
import {
  LOG_ON_PROJECT_BUTTON,
  LOG_REST_BUTTON,
  LOG_TIME_BUTTON,
  MUTE_BUTTON,
  projectToLog,
  restOfDay,
  taskToLog,
} from './views.ts';

const commandOfButton = z.object({ command: z.string(), happened: z.string() });

/** Does what a button says. What there is to tell takes the place of the button's message. */
export async function receiveButton(press: ButtonPress, desk: Desk): Promise<void> {
  switch (press.actionId) {
    case RUN_COMMAND_BUTTON: {
      const { command: text, happened } = heldBy(press, commandOfButton);
      const parsed = parseCommand(text);
      if ('fault' in parsed) throw new SlackRequestError('the button holds no command');
      return tell(await carryOutCommand({ ...press, command: parsed.command, happened }, desk));
    }
    case LOG_TIME_BUTTON: {
      const { connection, task } = heldBy(press, taskToLog);
      const fault = channelFault(desk.settings, 'log', press.channelId);
      if (fault) return tell(message(`:warning: ${fault}`));
      return tell(await openLogTimeModal(press, { connection, on: task }, desk));
    }
    case LOG_ON_PROJECT_BUTTON: {
      const fault = channelFault(desk.settings, 'log', press.channelId);
      if (fault) return tell(message(`:warning: ${fault}`));
      return tell(await openProjectModal(press, heldBy(press, projectToLog), desk));
    }
    case LOG_REST_BUTTON: {
      const { connection, date, minutes, tasks } = heldBy(press, restOfDay);
      const duration = minutes > 0 ? { duration: printDuration(minutes) } : {};
      return tell(await openLogTimeModal(press, { connection, on: tasks, date, ...duration }, desk));
    }
    case MUTE_BUTTON:
      await desk.mutes.mute(press.userId, press.value);
      return tell(message(`:no_bell: You will not be reminded of ${escaped(press.value)} any more.`));
    default:
      throw new SlackRequestError('the button is none of the relay');
  }

  async function tell(said: Parameters<typeof respond>[2] | undefined): Promise<void> {
    if (said && press.responseUrl !== undefined) await respond(desk.fetch, press.responseUrl, said);
  }
}

/** What the relay put there itself. */
function heldBy<T>({ value, actionId }: ButtonPress, schema: z.ZodType<T>): T {
  try {
    return schema.parse(JSON.parse(value));
  } catch {
    throw new SlackRequestError(`the button ${actionId} does not hold what the relay puts there`);
  }
}
