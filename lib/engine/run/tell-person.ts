import type { Thing } from '../../config/pages.ts';
import type { WaitsFor } from '../record/history.ts';
import { Interruption } from '../record/interruption.ts';
import type { Job, ParkKind } from '../record/job.ts';
import { LeaseLost } from '../record/job-store.ts';
import type { Journal } from '../record/journal.ts';
import type { Reply, ReplySteps } from './reply-steps.ts';

/** The news of a job for the person who requested it. */
export type ReplyContent =
  | ({ of: 'done' } & Outcome)
  | ({ of: 'not done' } & Pick<Outcome, 'text' | 'blocks' | 'link' | 'isUnclear'>)
  /** The estimated time; epoch milliseconds. */
  | { of: 'waiting'; until: number | undefined; waitsFor: WaitsFor }
  | { of: 'parked'; kind: ParkKind };

/** The outcome of a job, in plain words. */
export interface Outcome {
  text: string;
  /** The Slack text, which quotes the person. No record of the job has it. */
  inSlack?: string;
  /** The id of the object created through a linked account. The job's records have it in place of the text. */
  id?: string | number | undefined;
  /** The things that the text names. The reply links to them. */
  about?: readonly Thing[];
  /** Block Kit that replaces the text in a reply to Slack. */
  blocks?: readonly object[];
  /** The person has to link their account first: the scopes to request in addition to those already granted. */
  link?: readonly string[];
  /** True if it is unknown whether this was done. */
  isUnclear?: boolean;
  /** True if no reply is sent, because an outsider asked. */
  isUntold?: boolean;
}

/** Makes a reply to the person who requested the job, or says why it cannot. */
export type Replies = (job: Job, said: ReplyContent) => Promise<Reply<unknown> | { calls: string; leftOut: string }>;

/** The beginnings of the steps' names. No step of a team has a colon and a space in its name. */
export const WHY_IT_WAITS = 'say why it waits: ';
export const IS_PARKED = 'say that it is parked: ';
/** Shorter waits end before a person would read the message. */
const WORTH_TELLING_MS = 10_000;
/** A Slack response_url accepts five messages, and one of them is for the outcome. */
const WAITS_TOLD = 3;
/** A person gets no second message about a wait within this time. */
const TELL_AGAIN_MS = 10 * 60_000;

export interface TellPersonOptions {
  job: Job;
  journal: Journal;
  steps: Pick<ReplySteps, 'reply' | 'skip'>;
  replies: Replies;
  clock: () => number;
  /** Gets the errors of messages that failed while the job ends or waits anyway. */
  failed: (error: unknown) => void;
}

/** Sends news of a job to the person who requested it. Does nothing for jobs that an event caused. */
export function createTellPerson({ job, journal, steps, replies, clock, failed }: TellPersonOptions) {
  async function say(step: string, said: ReplyContent): Promise<void> {
    if (!job.replyTo || journal.entry(step)?.status === 'done') return;
    const reply = await replies(job, said);
    if ('leftOut' in reply) await steps.skip(step, reply.calls, reply.leftOut);
    else await steps.reply(step, reply);
  }

  async function sayIfPossible(step: string, said: ReplyContent): Promise<void> {
    try {
      await say(step, said);
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      failed(error instanceof Interruption ? error.message : error);
    }
  }

  return {
    /** Reports the outcome. The report is a step, so the job ends only after it. */
    async outcome(said: ReplyContent & { of: 'done' | 'not done' }): Promise<void> {
      if (said.of === 'done' && said.isUntold) return;
      await say('reply', said);
    },
    async waiting(until: number | undefined, waitsFor: WaitsFor): Promise<void> {
      // The person sees the question itself.
      if (waitsFor === 'question') return;
      if (until !== undefined && until - clock() < WORTH_TELLING_MS) return;
      const step = `${WHY_IT_WAITS}${waitsFor}`;
      const told = journal
        .entries()
        .filter(
          (entry) => entry.step.startsWith(WHY_IT_WAITS) && (entry.status === 'done' || entry.status === 'skipped'),
        );
      const isDue = (startedAt: number) => waitsFor === 'key' || clock() - startedAt >= TELL_AGAIN_MS;
      const isNews = told.every((entry) => entry.step !== step && isDue(entry.startedAt));
      if (!isNews || told.length >= WAITS_TOLD || (journal.entry(step)?.failures ?? 0) >= WAITS_TOLD) return;
      await sayIfPossible(step, { of: 'waiting', until, waitsFor });
    },
    // The name has the generation, because a replayed job may be parked again for another reason.
    parked: (kind: ParkKind) => sayIfPossible(`${IS_PARKED}${job.generation}`, { of: 'parked', kind }),
  };
}
