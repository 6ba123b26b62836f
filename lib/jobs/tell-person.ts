import { digest } from '../digest.ts';
import { Interruption } from './interruption.ts';
import type { Job } from './job.ts';
import { LeaseLost } from './job-store.ts';
import type { Journal } from './journal.ts';
import type { LinkAwaited } from './link-awaited.ts';
import type { Reply, Steps } from './steps.ts';

/** What becomes of a job, for the person who asked for it. */
export type ReplyContent =
  | ({ of: 'done' } & Outcome)
  | { of: 'not done'; text: string }
  /** Epoch milliseconds, as far as is known. */
  | { of: 'waiting'; until: number | undefined; why: string }
  /** The job waits, for a day, until the person has linked their account, where `scopes` is not empty with those. */
  | { of: 'link awaited'; why: string; scopes: readonly string[] }
  | { of: 'parked'; reason: string; kind: ParkKind };

/** Why a job was parked, without the words of anybody else: for places that are public. */
export type ParkKind = 'refused' | 'outcome unknown' | 'failed' | 'needs an operator';

/** What a job has done, in plain words. */
export interface Outcome {
  text: string;
  /** Block Kit in place of the text, where the reply goes to Slack. */
  blocks?: readonly object[];
  /** Nobody hears of it: a stranger asked. */
  isUntold?: boolean;
}

/** How something is said to the person who asked for the job, or why it cannot be. */
export type Replies = (job: Job, said: ReplyContent) => Promise<Reply<unknown> | { calls: string; leftOut: string }>;

/** Shorter waits are over before anybody has read of them. */
const WORTH_TELLING_MS = 10_000;
/** A response_url of Slack is good for five messages, of which one is for the outcome. */
const WAITS_TOLD = 3;

export interface TellPersonOptions {
  job: Job;
  journal: Journal;
  steps: Steps;
  replies: Replies;
  clock: () => number;
  /** Is told of what could not be said, where the job ends or waits nevertheless. */
  failed: (error: unknown) => void;
}

/** Tells the person who asked for a job what becomes of it; nobody where an event brought it about. */
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
    /** The outcome is a step like any other: a job has not ended before it is told. */
    async outcome(said: ReplyContent & { of: 'done' | 'not done' }): Promise<void> {
      if (said.of === 'done' && said.isUntold) return;
      await say('reply', said);
    },
    async waiting(until: number | undefined, why: string): Promise<void> {
      if (until !== undefined && until - clock() < WORTH_TELLING_MS) return;
      const told = journal.entries().filter(({ step }) => step.startsWith('tell waiting')).length;
      if (told < WAITS_TOLD) await sayIfPossible(`tell waiting ${told + 1}`, { of: 'waiting', until, why });
    },
    /** Once for each reason. */
    linkAwaited: ({ message: why, scopes }: LinkAwaited) =>
      sayIfPossible(`tell link awaited ${digest(why)}`, { of: 'link awaited', why, scopes }),
    // A job that was replayed may be parked again, for another reason.
    parked: (reason: string, kind: ParkKind) =>
      sayIfPossible(`tell parked ${job.generation}`, { of: 'parked', reason, kind }),
  };
}
