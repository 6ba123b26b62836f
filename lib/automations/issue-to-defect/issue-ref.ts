import { findRepository } from '../../config/settings.ts';
import { NeedsOperator } from '../../engine/record/interruption.ts';
import type { JobSteps } from '../../engine/run/job-steps.ts';
import { type IssueName, type Link, type ReportedState, settleTie } from '../../links/link-life.ts';
import { fetchIssueOrGone, type IssueAddress } from '../../platforms/github/fetch-issue.ts';
import type { GithubIssue } from '../../platforms/github/payload.ts';
import type { Context } from '../context.ts';
import { reportedState } from './defect-text.ts';
import type { IssueRepository } from './issue-decisions.ts';
import { type IssueInput, issueEntity, issueJobs } from './jobs.ts';

/** The issue that a job works on: its own, or the issue to which its defect was transferred. */
export interface IssueRef extends IssueName {
  repository: IssueRepository;
  address: IssueAddress;
}

export type IssueLink = Link;

/** Finds the issue that a job works on, and reads its link. */
export function createIssueRefs({ config, links, github }: Context) {
  return { issueRefOf, readLink };

  function issueRefOf({ entity, name: told, link }: IssueName & { link: IssueLink }, input: IssueInput): IssueRef {
    const { newest } = link;
    const isMoved = entity !== input.entity;
    // Until an event of the new issue arrives, only its name is known, and its repository may not be configured.
    const current = newest?.name ?? (findRepository(config, told.split('#', 1)[0] ?? '') && told);
    const [name = input.repository, number = input.issueNumber] = isMoved && current ? current.split('#') : [];
    const found = findRepository(config, name);
    if (!found?.issueToDefect) {
      throw new NeedsOperator(`${name} is no longer configured for ${issueJobs.name} in relay.config.ts`);
    }
    const { connection, issueToDefect: settings } = found;
    const installationId = isMoved ? undefined : input.installationId;
    return {
      entity,
      name: newest?.name ?? told,
      repository: { name: found.name, connection, settings },
      address: { repository: found.name, issueNumber: Number(number), installationId },
    };
  }

  /** Reads the link. If two of the issue's states have the same second, asks GitHub which one is current. */
  async function readLink(place: IssueRef, steps: JobSteps): Promise<IssueLink> {
    const { entity, address } = place;
    for (;;) {
      const link = await links.get(entity);
      const { newest } = link;
      if (!newest?.tied) return link;
      await steps.read(`read-issue ${entity} ${newest.revision}`, 'GitHub issue', async () => {
        const issue = await fetchIssueOrGone(github, address);
        const read = typeof issue === 'object' ? toldBy(issue, place, newest.name) : issue;
        await links.change(entity, (link) => settleTie(link, newest, read));
        if (read === 'gone') return 'the issue was deleted or transferred';
        return read ? { updatedAt: read.version } : 'GitHub does not say which state is newer';
      });
    }
  }
}

/** The state that GitHub reports. `gone` if GitHub returns another issue, after a transfer. */
function toldBy(issue: GithubIssue, { entity, repository }: IssueRef, name: string): ReportedState | 'gone' {
  if (issueEntity(issue.id) !== entity) return 'gone';
  const [fullName = ''] = name.split('#');
  return { ...reportedState(issue, fullName, repository.settings), name };
}
