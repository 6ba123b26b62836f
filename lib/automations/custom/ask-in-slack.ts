import { DAY_MS } from '../../dates.ts';
import { digest } from '../../digest.ts';
import { NeedsOperator, RetryAt } from '../../engine/record/interruption.ts';
import type { Job, Question } from '../../engine/record/job.ts';
import { NO_ANSWER } from '../../engine/record/job-store.ts';
import type { JobSteps } from '../../engine/run/job-steps.ts';
import { type GivenAnswer, openAnswer } from '../../platforms/slack/answers.ts';
import { message, plainSection } from '../../platforms/slack/messages.ts';
import { slackMessage, updateIfPossible } from '../../platforms/slack/post-message.ts';
import { isAsked, MOST_CHOICES, NOBODY_ANSWERED, questionMessage } from '../../platforms/slack/question.ts';
import type { SlackApi } from '../../platforms/slack/slack-api.ts';
import type { Choice, Json } from '../../triggers/steps.ts';
import type { Context } from '../context.ts';

const LONGEST_MS = 7 * DAY_MS;
/** Distinguishes these steps from a question to an operator in the journal. */
const CALLS = 'Slack question';
const WAITS = { releasesQueueGroup: true, waitsFor: 'question' } as const;

/** A question to people in Slack, who answer it with a button. */
export interface SlackQuestion {
  text: string;
  to: Question['to'];
  choices: readonly Choice[];
  /** The latest time for an answer; epoch milliseconds. */
  until: number;
}

interface Asking {
  job: Job;
  steps: JobSteps;
  slack: SlackApi;
  context: Pick<Context, 'jobs' | 'secrets' | 'clock'>;
}

/**
 * Asks people in Slack once, and waits for their answer.
 * @returns the person who answered and the value of their choice; undefined if there is no answer in time
 */
export async function askInSlack(
  step: string,
  { text, to, choices: offered, until }: SlackQuestion,
  { job, steps, slack, context: { jobs, secrets, clock } }: Asking,
): Promise<{ userId: string; by: string; value: Json } | undefined> {
  const choices = choicesOf(step, offered);
  const question: Question = await steps.read(`${step}: asked`, CALLS, async () => {
    if (until > clock() + LONGEST_MS) throw new NeedsOperator(`the step '${step}' asks for more than seven days`);
    return { step, to, until, choices: choices.map(({ digest }) => digest) };
  });
  // Stored before the message is sent, and again if the team's code has asked another question since.
  if (!steps.isDone(step) && job.question?.step !== step) await jobs.ask(job, question);
  const about = { jobId: job.id, step };
  const given = job.question?.step === step ? job.question.answer : undefined;
  const isAnswered = steps.isDone(step) || (given !== undefined && given !== NO_ANSWER);
  const labels = choices.map(({ text }) => text);
  const asked = slackMessage(to, `${job.id} ${step}`, questionMessage(text, labels, about), slack);
  // An answer replaces the message. A search would no longer find the message, and the relay would send it again.
  const sent = isAnswered ? undefined : await steps.tell(`${step}: message`, asked);
  const answer = await steps.read(step, CALLS, async () => {
    const isSeen = !sent || !('leftOut' in sent);
    if (given === undefined && isSeen && clock() < question.until)
      throw new RetryAt(question.until, `it waits for an answer to the step '${step}'`, WAITS);
    const sealed = given ?? (await jobs.endQuestion(job, question));
    if (sealed !== NO_ANSWER) return checked(sealed);
    if (sent) await updateIfPossible(sent, message([plainSection(text), plainSection(NOBODY_ANSWERED)]), slack);
    return null;
  });
  if (!answer) return undefined;
  const chosen = choices.find((one) => one.digest === answer.choice);
  if (chosen) return { userId: answer.userId, by: answer.by, value: chosen.value };
  throw new NeedsOperator(
    `the step '${step}' no longer offers what ${answer.by} chose; offer it again, or discard the job`,
  );

  /** @throws {NeedsOperator} if the answer is not from a person whom this step asks */
  async function checked(sealed: string): Promise<Pick<GivenAnswer, 'userId' | 'by' | 'choice'>> {
    const answer = await openAnswer(sealed, about, secrets);
    if (answer && isAsked(to, answer)) return { userId: answer.userId, by: answer.by, choice: answer.choice };
    throw new NeedsOperator(
      `the answer to the step '${step}' is from another person, was changed in the table, or was sealed with a signing secret that is gone; discard the job`,
    );
  }
}

/** @throws {NeedsOperator} */
function choicesOf(step: string, given: readonly Choice[]) {
  const choices = given.map((one) => (typeof one === 'string' ? { text: one, value: one } : one));
  const isUsable = choices.every(({ text }) => typeof text === 'string' && text.trim() !== '');
  if (isUsable && choices.length > 0 && choices.length <= MOST_CHOICES)
    return choices.map((one) => ({ ...one, digest: digest([one.text, one.value]) }));
  throw new NeedsOperator(`the step '${step}' needs 1 to ${MOST_CHOICES} choices, each with a text for its button`);
}
