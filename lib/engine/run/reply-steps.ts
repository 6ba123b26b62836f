import { RetryAt } from '../record/interruption.ts';
import type { Journal } from '../record/journal.ts';
import type { Privacy } from '../record/privacy.ts';
import type { Once } from './once.ts';

/** The time limit for all calls of a reply together. */
const REPLY_TIMEOUT_MS = 20_000;

/** A call outside the partner API that creates something: a comment, a message. */
export interface Reply<Kept> {
  /** For people, such as `GitHub comment`. */
  calls: string;
  /** Searches for the result of an earlier run before the reply is made again. `since` is when that run began. */
  find(since: number): Promise<Kept | undefined>;
  /**
   * Makes the reply.
   * @param ensureTime to be called right before the creating request; throws if this run has no time left for it
   */
  make(ensureTime: () => void): Promise<Kept>;
}

/** The steps that need no connection. */
export interface ReplySteps {
  /** Reads something outside the partner API. */
  read<Kept>(step: string, calls: string, read: () => Promise<Kept>): Promise<Kept>;
  /**
   * Sends a reply once. A second try first searches for it.
   * @param mayMake throws if it must not be made now
   */
  reply<Kept>(step: string, reply: Reply<Kept>, mayMake?: () => Promise<void>): Promise<Kept>;
  /**
   * Makes a decision once. The journal keeps it sealed, because more roles may write to the journal than may decide.
   */
  decide<Kept>(step: string, calls: string, decide: () => Promise<Kept>): Promise<Kept>;
  isDone(step: string): boolean;
  skip(step: string, calls: string, why: string): Promise<void>;
}

/** @param deadline when this run must have ended because of the Lambda's time-out. Epoch milliseconds. */
export function createReplySteps(
  journal: Journal,
  clock: () => number,
  deadline: number,
  once: Once,
  privacy: Privacy,
): ReplySteps {
  /** Throws after the end of the lease, because another worker may then send the reply. */
  function ensureTime(): void {
    if (clock() + REPLY_TIMEOUT_MS > deadline) throw new RetryAt(clock(), 'this run has no time left for a reply');
  }

  return {
    read: (step, calls, read) => once.run(step, calls, read),
    async reply(step, { calls, find, make }, mayMake) {
      return once.run(step, calls, async (begun) => {
        ensureTime();
        const made = begun && (await find(begun.startedAt));
        if (made !== undefined) return made;
        await mayMake?.();
        if (!begun) await once.write({ step, calls, status: 'begun', startedAt: clock() });
        // This worker may have stalled since, and may stall again while it prepares the request.
        ensureTime();
        return make(ensureTime);
      });
    },
    decide: (step, calls, decide) => once.run(step, calls, decide, privacy),
    isDone: (step) => journal.entry(step)?.status === 'done',
    async skip(step, calls, why) {
      if (journal.entry(step)) return;
      const now = clock();
      await once.write({ step, calls, status: 'skipped', startedAt: now, finishedAt: now, note: why });
    },
  };
}
