import * as z from 'zod/mini';
import { button, MAX_BUTTON_VALUE_LENGTH } from '../slack/messages.ts';

/** A button that gives the command which is its value. */
export const RUN_COMMAND_BUTTON = 'run-command';

/**
 * The value of the button. `happened` is the event that brought the button about, so that the command is carried out
 * once however often the button is pressed. `again` says that the person was asked and wants the command done once more.
 */
export const commandOfButton = z.object({ command: z.string(), happened: z.string(), again: z.boolean() });

/** @returns none if the command is too long for a button */
export function runButton(label: string, value: z.output<typeof commandOfButton>) {
  const text = JSON.stringify(value);
  return text.length <= MAX_BUTTON_VALUE_LENGTH ? [button(label, RUN_COMMAND_BUTTON, text, 'primary')] : [];
}
