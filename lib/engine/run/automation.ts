import type { Job } from '../record/job.ts';
import type { JobSteps } from './job-steps.ts';
import type { Outcome } from './tell-person.ts';

/** An automation: it turns a job into steps. */
export interface Automation {
  name: string;
  /**
   * Runs the job. It may be run again at any point, and then continues where the journal ends. @returns what was done
   */
  run(job: Job, steps: JobSteps): Promise<string | Outcome>;
  /**
   * Releases what the job holds outside its own record, right before the job ends.
   *
   * @param ending if it is `succeeded`, this may throw a RetryAt to run the job once more
   * @param isHeld returns true if no other worker has taken over the job
   */
  letGo?(job: Job, ending: 'succeeded' | 'parked', isHeld: () => Promise<boolean>): Promise<void>;
}
