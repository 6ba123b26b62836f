import { isOfPeople } from '../../service/budget/lanes.ts';
import type { Job } from './job.ts';

type ClaimedJob = Job & Required<Pick<Job, 'lease'>>;

/**
 * A suspect job that waits for other runs to end tries again within this time. Until it starts, no background job does.
 */
const ASKS_AGAIN_MS = 2_000;

/**
 * The runs of one process. If the process crashes, each of its jobs is suspect, because any of them may be the reason.
 * A suspect job starts only when nothing else runs, and only people's jobs start beside it.
 */
export type ProcessRuns = ReturnType<typeof createProcessRuns>;

export function createProcessRuns() {
  const running = new Map<string, ClaimedJob>();
  let lastClaim: Promise<unknown> = Promise.resolve();
  let suspectAsksBy = 0;

  return {
    /** Makes claims one after the other, so that each claim knows the runs that it starts beside. */
    inTurn<T>(claim: () => Promise<T>): Promise<T> {
      const claimed = lastClaim.then(claim);
      lastClaim = claimed.catch(() => {});
      return claimed;
    },
    mayStart(job: Job, now: number): boolean {
      // A run that outlasts its lease may never end, so it does not count.
      const others = [...running.values()].filter(({ lease }) => lease.until > now);
      if (!isSuspect(job)) return isOfPeople(job.lane) || (suspectAsksBy <= now && !others.some(isSuspect));
      if (others.length > 0) suspectAsksBy = now + ASKS_AGAIN_MS;
      return others.length === 0;
    },
    isEmpty: () => running.size === 0,
    /** Returns the run that began when nothing else ran, unless another run has begun since. */
    alone: (): ClaimedJob | undefined => [...running.values()].find(({ lease }) => lease.alone),
    begin(job: ClaimedJob): void {
      running.set(job.lease.owner, job);
    },
    /**
     * Removes the note that a run is alone. The run may have ended in the meantime.
     * @param lease without the note
     */
    share(lease: ClaimedJob['lease']): void {
      const job = running.get(lease.owner);
      if (job) running.set(lease.owner, { ...job, lease });
    },
    end(owner: string): void {
      running.delete(owner);
    },
  };
}

const isSuspect = ({ crashes }: Job): boolean => crashes !== undefined;
