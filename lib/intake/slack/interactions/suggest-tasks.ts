import type { PlainTextOption } from '@slack/types';
import { requiresLink } from '../../../config/settings.ts';
import { readOwn, SlackRequestError } from '../../../platforms/slack/requests/fields.ts';
import type { TypedInList } from '../../../platforms/slack/requests/interaction.ts';
import { taskOptions } from '../../../platforms/slack/views/task-select.ts';
import { LOG_TIME_MODAL, logTimeMemory } from '../../../platforms/slack/views/views.ts';
import type { SlackIntake } from '../slack-intake.ts';

/** Returns the tasks that match a person's input in the form; none for a person who may not open the form. */
export async function suggestTasks(given: TypedInList, intake: SlackIntake): Promise<PlainTextOption[]> {
  if (given.callbackId !== LOG_TIME_MODAL) throw new SlackRequestError('this list does not belong to Partner Relay');
  const { connection } = readOwn("the modal's private_metadata", given.privateMetadata, logTimeMemory);
  const { config, settings } = intake;
  const { userId } = given;
  if (requiresLink(config, connection)) return [];
  if (settings.access.knownOnly && !(await intake.isKnown(userId, connection))) return [];
  const fault = await intake.faultOf('log', { userId, connection });
  return fault === undefined ? taskOptions(await intake.tasks.get(connection), given.typed) : [];
}
