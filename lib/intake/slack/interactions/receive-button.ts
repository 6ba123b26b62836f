import type * as z from 'zod/mini';
import { printDuration } from '../../../commands/duration.ts';
import type { placeAsked } from '../../../platforms/slack/command-button.ts';
import { accountToLink, LINK_BUTTON, notOffered, OPEN_BUTTON } from '../../../platforms/slack/link-messages.ts';
import { message, plainSection, type SlackMessage, warning } from '../../../platforms/slack/messages.ts';
import { readOwn, SlackRequestError } from '../../../platforms/slack/requests/fields.ts';
import type { ButtonPress } from '../../../platforms/slack/requests/interaction.ts';
import { AWAY_BUTTON, BACK_BUTTON } from '../../../platforms/slack/views/away-views.ts';
import {
  LOG_REST_BUTTON,
  LOG_TIME_BUTTON,
  MUTE_BUTTON,
  restOfDay,
  taskToLog,
} from '../../../platforms/slack/views/views.ts';
import { dayName } from '../../../timesheets/reminder-message.ts';
import type { SlackIntake } from '../slack-intake.ts';
import { openAwayModal, openLogTimeModal } from './open-modal.ts';

/** How long a reminder's missing time is proposed. Afterwards, the person may have logged it. */
const PROPOSED_FOR_MS = 12 * 3_600_000;

/** Handles a button without a command. @returns what to tell the person */
export async function receiveButton(press: ButtonPress, intake: SlackIntake): Promise<SlackMessage | undefined> {
  const held = <T>(schema: z.core.$ZodType<T>) => readOwn(`the button ${press.actionId}`, press.value, schema);
  switch (press.actionId) {
    case LOG_TIME_BUTTON: {
      const { task: on, ...place } = held(taskToLog);
      return openToLog(place, () => openLogTimeModal(press, { connection: place.connection, on }, intake));
    }
    case LOG_REST_BUTTON: {
      const { connection, date, minutes, at, tasks } = held(restOfDay);
      const isRecent = intake.clock() - at < PROPOSED_FOR_MS;
      const duration = minutes > 0 && isRecent ? { duration: printDuration(minutes) } : {};
      const modal = { connection, on: tasks, date, ...duration };
      // The channel of the reminder does not matter.
      return openToLog({ connection }, () => openLogTimeModal(press, modal, intake));
    }
    case LINK_BUTTON:
      return (await intake.linking())?.makeLink(press, held(accountToLink)) ?? notOffered(intake.config);
    case OPEN_BUTTON:
      return undefined;
    case MUTE_BUTTON:
      await intake.absences.mute(press.userId, press.value);
      return message(plainSection(`:no_bell: You will get no more reminders for ${dayName(press.value)}.`));
    case AWAY_BUTTON:
      return openAwayModal(press, press.value, press.responseUrl, intake);
    case BACK_BUTTON:
      await intake.absences.set(press.userId, undefined);
      return message(plainSection(':white_check_mark: You get reminders again.'));
    default:
      throw new SlackRequestError('this button does not belong to Partner Relay');
  }

  /** Opens a form if the person may log time there. */
  async function openToLog(
    { connection, channelId }: z.output<typeof placeAsked>,
    open: () => Promise<SlackMessage | undefined>,
  ): Promise<SlackMessage | undefined> {
    const asked = { userId: press.userId, connection, channelId };
    const fault = await intake.faultOf('log', asked);
    return fault === undefined ? open() : warning(fault);
  }
}
