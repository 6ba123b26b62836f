import { operations } from '../../service/partner/operations/operations.ts';
import { InLine, Interruption, NeedsAnswer, NeedsOperator, RetryAt } from '../record/interruption.ts';
import type { UnfinishedStep } from '../record/job.ts';
import type { Journal, StepEntry } from '../record/journal.ts';
import type { Privacy } from '../record/privacy.ts';
import { createSendLog, type Send, type SendLog } from '../record/sends.ts';
import { asInterruption } from './as-interruption.ts';

/** A step ended or failed. */
export interface StepNews {
  news: 'step';
  entry: StepEntry;
  isOperation: boolean;
}

/** A send that the end of its step does not explain. */
export interface SendNews {
  news: 'send';
  step: string;
  calls: string;
  send: Send;
}

/** Carries out each step of a job once, and journals the result. */
export type Once = ReturnType<typeof createOnce>;

interface OnceOptions {
  journal: Journal;
  clock: () => number;
  report: (news: StepNews | SendNews) => void;
  /** The steps that the last run began and did not finish. */
  unfinished: readonly UnfinishedStep[];
}

export function createOnce({ journal, clock, report, unfinished }: OnceOptions) {
  const unfinishedSteps = new Map(unfinished.map((step) => [step.step, step]));

  async function write(entry: StepEntry): Promise<void> {
    await journal.write(entry);
    if (entry.status !== 'begun') report({ news: 'step', entry, isOperation: operations.has(entry.calls) });
  }

  return {
    write,
    /** Returns the steps that have begun and must continue in a later run. */
    unfinished: () => [...unfinishedSteps.values()],
    /**
     * Runs a step unless it is done.
     * @param run gets the journal's entry of an earlier run, and the log for its sends
     * @param privacy set if only the person who asked may read the result, or if only the relay may have written it,
     * because more roles may write to the journal than may act as a person
     */
    async run<Kept>(
      step: string,
      calls: string,
      run: (begun: StepEntry | undefined, sends: SendLog) => Promise<Kept>,
      privacy?: Privacy,
    ): Promise<Kept> {
      const known = entryOf(journal, step, calls);
      if (known?.status === 'done') {
        return (privacy ? await privacy.open(step, known.sealed) : known.result) as Kept;
      }
      const before = unfinishedSteps.get(step) ?? known;
      const now = clock();
      const startedAt = before?.startedAt ?? now;
      const log = createSendLog(before?.sends, (send) => report({ news: 'send', step, calls, send }));
      const times = { startedAt, resumedAt: before && now };
      const about = () => ({ step, calls, ...times, sends: log.sends(), settledBy: log.settledBy() });
      try {
        const result = await run(known, log);
        unfinishedSteps.delete(step);
        const kept = privacy ? { sealed: await privacy.seal(step, result) } : { result };
        await write({ ...about(), status: 'done', finishedAt: clock(), ...kept });
        return result;
      } catch (thrown) {
        const error = asInterruption(thrown, clock());
        if (error instanceof RetryAt || error instanceof InLine) {
          unfinishedSteps.set(step, { step, calls, ...times, sends: log.sends() });
        } else if (error instanceof Interruption) {
          unfinishedSteps.delete(step);
          const sent = journal.entry(step)?.sent;
          const note = privacy?.noteOf(error) ?? error.message;
          const failed = { status: 'failed', failures: (known?.failures ?? 0) + 1 } as const;
          // A step that asks a question has not failed. It waits for the answer.
          const ended = error instanceof NeedsAnswer ? ({ status: 'begun' } as const) : failed;
          await write({ ...about(), ...ended, finishedAt: clock(), note, sent });
        }
        throw error;
      }
    },
  };
}

/**
 * Returns the journal's entry of a step, found by the step's name. A creation without an answer has no entry yet.
 * @throws {NeedsOperator} if the step now calls something else
 */
export function entryOf(journal: Journal, step: string, calls: string): StepEntry | undefined {
  const known = journal.entry(step);
  const was = known?.calls ?? journal.openRequest(step)?.operation ?? calls;
  if (was === calls) return known;
  throw new NeedsOperator(
    `the step '${step}' was ${was} in an earlier run and is ${calls} now; give a new step a new name`,
  );
}
