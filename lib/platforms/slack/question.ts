import * as z from 'zod/mini';
import { button, message, plainSection, type SlackMessage } from './messages.ts';

/** https://docs.slack.dev/reference/block-kit/blocks/actions-block */
export const MOST_CHOICES = 25;

const ANSWER_BUTTON = 'answer';
export const isAnswerButton = (actionId: string) => actionId.startsWith(`${ANSWER_BUTTON}-`);

/** The value of a button: the job, the asking step, and the choice. */
export const answerOfButton = z.object({
  job: z.string().check(z.maxLength(255)),
  step: z.string().check(z.maxLength(255)),
  choice: z.int().check(z.gte(0)),
});

/** Creates the message of a job's question, with a button for each choice. */
export function questionMessage(
  text: string,
  choices: readonly string[],
  { jobId, step }: { jobId: string; step: string },
): SlackMessage {
  const buttons = choices.map((label, choice) =>
    button(label, `${ANSWER_BUTTON}-${choice}`, JSON.stringify({ job: jobId, step, choice })),
  );
  return message(plainSection(text), ...buttons);
}

/**
 * Returns true if the question is for the person who pressed the button, or for the channel in which it was pressed.
 */
export const isAsked = (
  to: { userId: string } | { channelId: string },
  { userId, channelId }: { userId: string; channelId: string },
) => ('userId' in to ? userId === to.userId : channelId === to.channelId);

export const NOBODY_ANSWERED = 'Nobody answered in time.';
