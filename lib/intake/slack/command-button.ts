import * as z from 'zod/mini';
import { button, MAX_BUTTON_VALUE_LENGTH } from '../../platforms/slack/messages.ts';

/** A button that runs the command in its value. */
export const RUN_COMMAND_BUTTON = 'run-command';

/**
 * The value of the button. `happened` is the event that the button came from, so that the command runs once however
 * often the button is pressed. `again` means that the person was asked and wants the command to run once more.
 */
export const commandOfButton = z.object({ command: z.string(), happened: z.string(), again: z.boolean() });

/** @returns no button if the command is too long for its value */
export function runButton(label: string, value: z.output<typeof commandOfButton>) {
  const text = JSON.stringify(value);
  return text.length <= MAX_BUTTON_VALUE_LENGTH ? [button(label, RUN_COMMAND_BUTTON, text, 'primary')] : [];
}
