import * as z from 'zod/mini';
import { button, MAX_BUTTON_VALUE_LENGTH } from './messages.ts';

/** A button that runs the command in its value. */
const RUN_COMMAND_BUTTON = 'run-command';
export const isRunButton = (actionId: string) => actionId.startsWith(RUN_COMMAND_BUTTON);

/** Where a person requested a job: the connection, and the channel, unless it was a form. */
export const placeAsked = z.object({ connection: z.string(), channelId: z.optional(z.string()) });

/** @param job its outcome is sent to this place */
export function placeOf(job: { connection: string; replyTo?: { in: string; channelId?: string } }) {
  const { connection, replyTo } = job;
  return { connection, channelId: replyTo?.in === 'slack' ? replyTo.channelId : undefined };
}

/**
 * The value of the button. `happened` is the event of the button, so that its command runs once however often it is
 * pressed. `from` is set in a job's message, which may arrive in another channel, and `isSure` in a message that asks
 * for confirmation.
 */
export const commandOfButton = z.object({
  command: z.string(),
  happened: z.string(),
  from: z.optional(placeAsked),
  isSure: z.optional(z.literal(true)),
});

/**
 * @param index distinguishes the buttons of a message in their action ids
 * @returns no button if the command is too long for its value
 */
export function runButton(label: string, value: z.output<typeof commandOfButton>, index = 0) {
  const text = JSON.stringify(value);
  const actionId = index === 0 ? RUN_COMMAND_BUTTON : `${RUN_COMMAND_BUTTON}-${index}`;
  return text.length <= MAX_BUTTON_VALUE_LENGTH ? [button(label, actionId, text, 'primary')] : [];
}
