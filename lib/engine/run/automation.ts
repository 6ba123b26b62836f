import type { Job } from '../record/job.ts';
import type { JobSteps } from './job-steps.ts';
import type { Outcome } from './tell-person.ts';

/** An automation: it turns a job into steps. */
export interface Automation {
  name: string;
  /**
   * Runs the job. The engine may run it again at any point; it then continues at the end of its journal.
   * @returns what was done
   */
  run(job: Job, steps: JobSteps): Promise<string | Outcome>;
  /**
   * Releases what the job holds outside its own record. Called right before the job ends.
   *
   * @param ending for `succeeded`, this may throw a RetryAt to run the job once more
   * @param isHeld returns true if no other worker has taken over the job
   */
  letGo?(job: Job, ending: 'succeeded' | 'parked', isHeld: () => Promise<boolean>): Promise<void>;
}
