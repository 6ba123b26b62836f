import type { RelayConfig } from '../config/schema.ts';
import type { GithubDelivery } from '../github/delivery.ts';
import type { Job, JobDraft } from '../jobs/job.ts';
import type { Steps } from '../jobs/steps.ts';
import type { Outcome } from '../jobs/tell-person.ts';
import type { Links } from '../links/links.ts';
import type { IssueState } from './defect-text.ts';

/** What becomes of a delivery: jobs, or the reason why none. */
export type Taken =
  | {
      jobs: JobDraft[];
      /** When it happened, in epoch milliseconds. Undefined: the payload does not say. */
      happenedAt: number | undefined;
      /** Keeps what the jobs rely on; see accept-event.ts. */
      beforeStoring?: (links: Links<IssueState>) => Promise<number | undefined>;
    }
  | { ignored: string };

/**
 * Says what becomes of a delivery, from the payload alone; undefined for events of another kind.
 * @throws {PayloadError} for a delivery that it would take but cannot read
 */
export type GithubTaker = (delivery: GithubDelivery, config: RelayConfig) => Taken | undefined;

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
