import type { RelayConfig, RepositoryConfig } from '../config/schema.ts';
import type { JobDraft } from '../engine/record/job.ts';
import type { Links } from '../links/links.ts';

/** The settings that an automation of ours decides by. */
export interface Settings {
  /** The repository of the event. */
  repository: RepositoryConfig;
  config: RelayConfig;
}

/**
 * Stores the state that a job relies on; see accept-event.ts.
 * @param isKnown whether a job was stored before
 */
export type BeforeStoring = (links: Links, isKnown: (jobId: string) => Promise<boolean>) => Promise<number | undefined>;

/** A job of an automation of ours. It says what a team's `Draft` says, and what the relay derives for a team. */
export interface OurDraft<Input>
  extends Pick<JobDraft, 'entity' | 'summary' | 'asked' | 'replyTo' | 'stranger' | 'startsAtOnce'> {
  happened: readonly (string | number)[];
  /** ISO 8601. */
  at?: string | null | undefined;
  /** The event makes one job for all time, also if the record of the job has expired. */
  isForGood?: true;
  input: Input;
  /** @param id of the job */
  beforeStoring?: (id: string, ...stores: Parameters<BeforeStoring>) => ReturnType<BeforeStoring>;
}

/** Jobs, the reason why there are none, or undefined if the event is no business of the automation. */
export type OurDrafts<Input> = OurDraft<Input> | readonly OurDraft<Input>[] | string | undefined;

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
