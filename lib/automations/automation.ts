import type { RelayConfig } from '../config/schema.ts';
import type { GithubDelivery } from '../github/delivery.ts';
import type { Job, JobDraft } from '../jobs/job.ts';
import type { Steps } from '../jobs/steps.ts';
import type { Links } from './link.ts';

/** What an automation makes of a delivery: a job, or the reason why not. */
export type Taken = { job: JobDraft; beforeStoring?: (links: Links) => Promise<void> } | { ignored: string };

/** A rule: which events it takes, and the steps that it makes of one. */
export interface Automation {
  name: string;
  /**
   * Says what becomes of a delivery, from the payload alone.
   * @throws {PayloadError} for a delivery that it would take but cannot read
   */
  take(delivery: GithubDelivery, config: RelayConfig): Taken;
  /** Carries the job out. May run again at any point, and then goes on where the journal ends. @returns what was done */
  run(job: Job, steps: Steps): Promise<string>;
}
