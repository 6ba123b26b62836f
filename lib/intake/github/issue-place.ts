import type { RepositoryConfig } from '../../config/schema.ts';
import type { JobDraft } from '../../engine/record/job.ts';

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
