import type { KnownBlock } from '@slack/types';
import * as z from 'zod/mini';
import { isOver, type Job, type Question, statusInWords } from '../../../engine/record/job.ts';
import { NO_ANSWER } from '../../../engine/record/job-store.ts';
import { openAnswer, sealAnswer } from '../../../platforms/slack/answers.ts';
import { placeOf } from '../../../platforms/slack/command-button.ts';
import { message, plainSection, type SlackMessage, warning } from '../../../platforms/slack/messages.ts';
import { escaped } from '../../../platforms/slack/mrkdwn.ts';
import { answerOfButton, isAsked, NOBODY_ANSWERED } from '../../../platforms/slack/question.ts';
import { readOwn } from '../../../platforms/slack/requests/fields.ts';
import type { ButtonPress } from '../../../platforms/slack/requests/interaction.ts';
import { keys } from '../../../state/table/keys.ts';
import { ifReadable } from '../../../state/table/unreadable-item.ts';
import type { SlackIntake } from '../slack-intake.ts';
import { recognize } from './open-modal.ts';

/** How many others may change the job at the same time. */
const CONTENDED_TRIES = 5;

/** Stores a person's answer to a job's question, or tells them why it does not count. */
export async function receiveAnswer(press: ButtonPress, intake: SlackIntake): Promise<void> {
  const { stores, responseUrls, clock } = intake;
  const { job: jobId, step, choice } = readOwn(`the button ${press.actionId}`, press.value, answerOfButton);
  for (let tries = 0; tries < CONTENDED_TRIES; tries++) {
    const read = await ifReadable(stores.jobs.get(jobId).then((job) => ({ job })));
    if (!read)
      return respond(
        warning(`Partner Relay cannot read this request. Tell ${escaped(intake.config.contact)}.`),
        'beside',
      );
    const { job } = read;
    const question = job?.question?.step === step ? job.question : undefined;
    const refusal = job && question && (await refusalOf(press, job, question, intake));
    if (refusal) return respond(refusal, 'beside');
    const over = await howItEnded(job, question);
    if (over !== undefined) return end(over, true);
    const chosen = question?.choices[choice];
    if (!job || !question || chosen === undefined)
      return respond(warning('This choice can no longer be made.'), 'beside');
    const { userId, channelId, text } = press;
    const given = { userId, channelId, text, by: press.userName, choice: chosen };
    const sealed = await sealAnswer(given, { jobId, step }, stores);
    const kept = await stores.jobs.answer(job, question, sealed);
    if (kept?.status === 'queued') await stores.queue.send(kept);
    if (kept) return end(answered(given), false);
  }
  return respond(warning('Partner Relay is busy with this. Try again.'), 'beside');

  /** @returns undefined while the question is open */
  async function howItEnded(job: Job | undefined, question: Question | undefined): Promise<string | undefined> {
    if (job && !question) return whoAnsweredBefore();
    if (question?.answer !== undefined && question.answer !== NO_ANSWER) {
      const given = await openAnswer(question.answer, { jobId, step }, stores.secrets);
      return given ? answered(given) : 'Somebody has answered this.';
    }
    if (!job || !question) return 'This question is closed. Give the command again.';
    if (question.answer === NO_ANSWER) return NOBODY_ANSWERED;
    if (job.discarded || isOver(job)) return `This question is over: its request is ${statusInWords(job)}.`;
    return question.until <= clock() ? NOBODY_ANSWERED : undefined;
  }

  /** Used if the job has asked another question since. */
  async function whoAnsweredBefore(): Promise<string | undefined> {
    const entry = await stores.table.get(keys.step(jobId, step));
    const { data } = journaled.safeParse(entry?.result);
    if (entry?.status !== 'done') return undefined;
    return data ? `${data.by} has already answered this.` : NOBODY_ANSWERED;
  }

  /** Replaces the buttons with the outcome. */
  async function end(outcome: string, isTold: boolean): Promise<void> {
    const blocks: KnownBlock[] = press.blocks.filter(({ type }) => type !== 'actions');
    const said = message(plainSection(outcome));
    const whole = { text: said.text, blocks: [...blocks, ...said.blocks] };
    await Promise.all([respond(whole, 'for all'), ...(isTold ? [respond(said, 'beside')] : [])]);
  }

  async function respond(said: SlackMessage, where: 'beside' | 'for all'): Promise<void> {
    await responseUrls.respond(press.responseUrl, said, where);
  }
}

const journaled = z.object({ by: z.string() });

const answered = ({ by, text }: { by: string; text: string }) => `:white_check_mark: ${by}: ${text}`;

/** @returns why the person may not answer, or undefined */
async function refusalOf(
  press: ButtonPress,
  job: Job,
  { to }: Question,
  intake: SlackIntake,
): Promise<SlackMessage | undefined> {
  if (!isAsked(to, press)) return warning('This question is for somebody else.');
  const { userId, triggerId } = press;
  const verb =
    userId === job.asked?.by?.id ? intake.verbs.list.find(({ verb }) => verb === job.asked?.verb) : undefined;
  const fault = verb && (await intake.faultOf(verb.permission, { userId, verb, ...placeOf(job) }));
  return fault === undefined ? recognize({ userId, triggerId }, job.connection, intake) : warning(fault);
}
