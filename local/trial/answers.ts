import { replayJob } from '../../lib/engine/operate/resume.ts';
import { asksQuestion, type Job, questionOf } from '../../lib/engine/record/job.ts';
import { openJournal } from '../../lib/engine/record/journal.ts';
import { answerOfButton, isAnswerButton } from '../../lib/platforms/slack/question.ts';
import type { Stores } from '../../lib/runtime.ts';
import { parsedJson } from '../../lib/text.ts';
import { buttonForm, buttonsOf } from '../slack/requests.ts';
import type { SlackStandIn } from '../slack/stand-in.ts';

/** The person who answers questions in a channel. */
const SOMEBODY = 'U0MIRA001';

interface AnswersOptions {
  standIn: SlackStandIn;
  stores: Stores;
  clock: () => number;
  /** Posts a request from Slack. */
  post: (form: URLSearchParams) => Promise<unknown>;
}

/**
 * Plays the people who answer the questions of jobs.
 * @param wanted their answers, by the step that asks
 */
export function createAnswers(wanted: Readonly<Record<string, string>>, options: AnswersOptions) {
  const { standIn, stores, clock, post } = options;
  const asked = new Set<string>();
  /** When each question's button was last pressed, because the relay may refuse a press. */
  const pressed = new Map<string, number>();

  /**
   * Presses a button of a question, once its job waits for the answer. After an earlier press, the job's steps could
   * vary from run to run.
   * @returns whether there was such a question
   * @throws {Error} if the question has no button with the answer
   */
  async function press(jobs: readonly Job[]): Promise<boolean> {
    for (const message of standIn.messages) {
      const buttons = buttonsOf(message).filter(({ action_id = '' }) => isAnswerButton(action_id));
      const { job, step = '' } = answerOfButton.safeParse(parsedJson(buttons[0]?.value ?? '')).data ?? {};
      const answer = wanted[step];
      const isOpen = jobs.some((one) => one.id === job && questionOf(one)?.step === step);
      if (answer === undefined || !isOpen || pressed.get(`${job} ${step}`) === clock()) continue;
      const button = buttons.find(({ text }) => text.text === answer);
      if (!button?.action_id) {
        const offered = buttons.map(({ text }) => `'${text.text}'`).join(', ');
        throw new Error(`the step '${step}' offers ${offered}, and not '${answer}'`);
      }
      asked.add(step);
      pressed.set(`${job} ${step}`, clock());
      await post(buttonForm(standIn, message, { actionId: button.action_id }, message.userId ?? SOMEBODY));
      return true;
    }
    return false;
  }

  /** Replays a parked job with an answer to its question, as an operator does. @returns whether there was such a job */
  async function replay(jobs: readonly Job[]): Promise<boolean> {
    for (const job of jobs.filter(asksQuestion)) {
      const journal = await openJournal(stores.table, job.id, clock);
      const { step = '' } = journal.entries().findLast(({ status }) => status === 'begun') ?? {};
      const reason = wanted[step];
      if (reason === undefined) continue;
      asked.add(step);
      await replayJob(job, { by: 'an operator', reason }, { ...stores, clock });
      return true;
    }
    return false;
  }

  return {
    /** The steps that have an answer here, but did not ask. */
    unasked: () => Object.keys(wanted).filter((step) => !asked.has(step)),
    /** Answers one question of these jobs. @returns whether there was one */
    answer: async (jobs: readonly Job[]): Promise<boolean> => (await press(jobs)) || replay(jobs),
  };
}
