import { isOfPeople } from '../../service/budget/lanes.ts';
import type { Job } from './job.ts';

type ClaimedJob = Job & Required<Pick<Job, 'lease'>>;

/** A suspect that waits for the others asks again by then. Until it starts, no background job does. */
const ASKS_AGAIN_MS = 2_000;

/**
 * The runs of one process. If it crashes, any of them may be the reason, so each of their jobs is suspect:
 * it starts when nothing else runs, and only a person's job starts beside it.
 */
export type ProcessRuns = ReturnType<typeof createProcessRuns>;

export function createProcessRuns() {
  const running = new Map<string, ClaimedJob>();
  let lastClaim: Promise<unknown> = Promise.resolve();
  let suspectAsksBy = 0;

  return {
    /** Claims are made one after the other, so that each knows which runs it starts beside. */
    inTurn<T>(claim: () => Promise<T>): Promise<T> {
      const claimed = lastClaim.then(claim);
      lastClaim = claimed.catch(() => {});
      return claimed;
    },
    mayStart(job: Job, now: number): boolean {
      // A run that outlasts its lease may never end.
      const others = [...running.values()].filter(({ lease }) => lease.until > now);
      if (!isSuspect(job)) return isOfPeople(job.lane) || (suspectAsksBy <= now && !others.some(isSuspect));
      if (others.length > 0) suspectAsksBy = now + ASKS_AGAIN_MS;
      return others.length === 0;
    },
    isEmpty: () => running.size === 0,
    /** The run that began when nothing else ran, unless another one has begun since. */
    alone: (): ClaimedJob | undefined => [...running.values()].find(({ lease }) => lease.alone),
    begin(job: ClaimedJob): void {
      running.set(job.lease.owner, job);
    },
    /** @param lease without the note that its run is alone; the run may have ended meanwhile */
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
