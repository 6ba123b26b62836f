import type { Job } from './job.ts';
import type { Steps } from './steps.ts';
import type { Outcome } from './tell-person.ts';

/** A rule: the steps that it makes of a job. */
export interface Automation {
  name: string;
  /** Carries the job out. May run again at any point, and then goes on where the journal ends. @returns what was done */
  run(job: Job, steps: Steps): Promise<string | Outcome>;
  /**
   * Gives up what the job holds outside its own record, right before the job ends.
   *
   * @param ending where it succeeds, it may throw a Later instead, to run once more
   * @param isHeld whether no other worker has taken the job over
   */
  letGo?(job: Job, ending: 'succeeded' | 'parked', isHeld: () => Promise<boolean>): Promise<void>;
}
