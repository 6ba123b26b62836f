import type { RepositoryConfig } from '../config/schema.ts';
import type { JobDraft } from '../jobs/job.ts';

/** Where somebody asks for a job on GitHub: on that issue or pull request, where they are answered too. */
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
    replyTo: { in: 'github', repository: name, issueNumber, ...(installation && { installationId: installation.id }) },
  };
}
