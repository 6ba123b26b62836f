import * as z from 'zod/mini';
import { button, MAX_BUTTON_VALUE_LENGTH } from './messages.ts';

/** A button that runs the command in its value. */
const RUN_COMMAND_BUTTON = 'run-command';
export const isRunButton = (actionId: string) => actionId.startsWith(RUN_COMMAND_BUTTON);

/** Where a person asked for a job: its connection, and the channel if it was no form. */
export const placeAsked = z.object({ connection: z.string(), channelId: z.optional(z.string()) });

/** @param job where its outcome is told */
export function placeOf(job: { connection: string; replyTo?: { in: string; channelId?: string } }) {
  const { connection, replyTo } = job;
  return { connection, channelId: replyTo?.in === 'slack' ? replyTo.channelId : undefined };
}

/**
 * The value of the button. `happened` is the event that the button came from, so that the command runs once however
 * often the button is pressed. `from` is set in the message of a job, which may arrive in another channel, and `isSure`
 * in a message that asks whether the person means it.
 */
export const commandOfButton = z.object({
  command: z.string(),
  happened: z.string(),
  from: z.optional(placeAsked),
  isSure: z.optional(z.literal(true)),
});

/**
 * @param index among the buttons of a message, which Slack tells apart by their action ids
 * @returns no button if the command is too long for its value
 */
export function runButton(label: string, value: z.output<typeof commandOfButton>, index = 0) {
  const text = JSON.stringify(value);
  const actionId = index === 0 ? RUN_COMMAND_BUTTON : `${RUN_COMMAND_BUTTON}-${index}`;
  return text.length <= MAX_BUTTON_VALUE_LENGTH ? [button(label, actionId, text, 'primary')] : [];
}
