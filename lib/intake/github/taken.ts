import type { RelayConfig, RepositoryConfig } from '../../config/schema.ts';
import type { JobDraft } from '../../engine/record/job.ts';
import type { Links } from '../../links/links.ts';
import type { TakenEvent } from '../../platforms/github/delivery.ts';
import type { Payload } from '../../platforms/github/payload.ts';

/** The result of a delivery: jobs, or the reason why there are none. */
export type Taken =
  | {
      jobs: JobDraft[];
      /** When it happened, in epoch milliseconds; undefined if the payload does not say. */
      happenedAt: number | undefined;
      /**
       * Stores the state that the jobs rely on; see accept-event.ts.
       * @param isKnown whether a job was stored before
       */
      beforeStoring?: (links: Links, isKnown: (jobId: string) => Promise<boolean>) => Promise<number | undefined>;
    }
  | { ignored: string };

/** An event of a repository that relay.config.ts names. */
export interface RepositoryEvent<Event extends TakenEvent> {
  payload: Payload<Event>;
  repository: RepositoryConfig;
  config: RelayConfig;
}

/** Decides what an event leads to, from its payload alone; undefined if the event is no business of it. */
export type Taker<Event extends TakenEvent> = (
  event: RepositoryEvent<Event>,
) => Taken | undefined | Promise<Taken | undefined>;

/** The issue or pull request where a person requests a job on GitHub. The answer goes there too. */
export function issuePlace(
  { name, connection }: RepositoryConfig,
  fullName: string,
  issueNumber: number,
  installation: { id: number } | null | undefined,
): Pick<JobDraft, 'connection' | 'lane' | 'entity'> & Required<Pick<JobDraft, 'replyTo'>> {
  return {
    connection,
    lane: 'background',
    entity: `${fullName}#${issueNumber}`,
    replyTo: { in: 'github', repository: name, issueNumber, installationId: installation?.id },
  };
}
