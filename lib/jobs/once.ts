import { operations } from '../partner/operations.ts';
import { InLine, Interruption, RetryAt } from './interruption.ts';
import type { Journal, StepEntry } from './journal.ts';

/** A step ended or failed. */
export interface StepNews {
  news: 'step';
  entry: StepEntry;
  isOperation: boolean;
}

/** Carries out each step of a job once, and journals what became of it. */
export interface Once {
  /** Runs a step unless it is done. @param run gets what the journal has of an earlier run of it */
  run<Kept>(step: string, calls: string, run: (begun: StepEntry | undefined) => Promise<Kept>): Promise<Kept>;
  write(entry: StepEntry): Promise<void>;
}

export interface OnceOptions {
  journal: Journal;
  clock: () => number;
  report: (news: StepNews) => void;
}

export function createOnce({ journal, clock, report }: OnceOptions): Once {
  async function write(entry: StepEntry): Promise<void> {
    await journal.write(entry);
    if (entry.status !== 'begun') report({ news: 'step', entry, isOperation: operations.has(entry.calls) });
  }

  return {
    write,
    async run<Kept>(step: string, calls: string, run: (begun: StepEntry | undefined) => Promise<Kept>): Promise<Kept> {
      const known = journal.entry(step);
      if (known?.status === 'done') return known.result as Kept;
      const startedAt = known?.startedAt ?? clock();
      try {
        const result = await run(known);
        await write({ step, calls, status: 'done', startedAt, finishedAt: clock(), result });
        return result;
      } catch (error) {
        if (error instanceof Interruption && !(error instanceof RetryAt || error instanceof InLine)) {
          const failures = (known?.failures ?? 0) + 1;
          const failed = {
            step,
            calls,
            status: 'failed',
            startedAt,
            finishedAt: clock(),
            note: error.message,
          } as const;
          const sent = journal.entry(step)?.sent;
          await write({ ...failed, failures, ...(sent && { sent }) });
        }
        throw error;
      }
    },
  };
}
