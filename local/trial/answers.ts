import { replayJob } from '../../lib/engine/operate/resume.ts';
import { asksQuestion, type Job, questionOf } from '../../lib/engine/record/job.ts';
import { openJournal } from '../../lib/engine/record/journal.ts';
import { answerOfButton, isAnswerButton } from '../../lib/platforms/slack/question.ts';
import type { Stores } from '../../lib/runtime.ts';
import { parsedJson } from '../../lib/text.ts';
import { buttonForm, buttonsOf } from '../slack/requests.ts';
import type { SlackStandIn } from '../slack/stand-in.ts';

/** Who presses the buttons of a question in a channel. */
const SOMEBODY = 'U0MIRA001';

interface AnswersOptions {
  standIn: SlackStandIn;
  stores: Stores;
  clock: () => number;
  /** Posts what Slack sends. */
  post: (form: URLSearchParams) => Promise<unknown>;
}

/**
 * People who answer the questions of jobs.
 * @param wanted their answers, by the steps that ask
 */
export function createAnswers(wanted: Readonly<Record<string, string>>, options: AnswersOptions) {
  const { standIn, stores, clock, post } = options;
  const asked = new Set<string>();
  /** When buttons were pressed last, because a press may be refused. */
  const pressed = new Map<string, number>();

  /**
   * Presses one button of a question that a job waits for. Earlier, its steps could differ from run to run.
   * @returns whether there was a question for it
   * @throws {Error} if it has no such button
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

  /** Answers what a parked job asks, as an operator does. @returns whether one asks that */
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
    /** The steps that have an answer and did not ask. */
    unasked: () => Object.keys(wanted).filter((step) => !asked.has(step)),
    /** Answers one question of these jobs. @returns whether there was one */
    answer: async (jobs: readonly Job[]): Promise<boolean> => (await press(jobs)) || replay(jobs),
  };
}
