import type { RelayConfig } from '../config/schema.ts';
import type { GithubDelivery } from '../github/delivery.ts';
import type { JobDraft } from '../jobs/job.ts';
import type { IssueState } from '../links/issue-state.ts';
import type { Links } from '../links/links.ts';

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
