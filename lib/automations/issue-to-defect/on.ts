import { findRepository } from '../../config/settings.ts';
import { digest } from '../../digest.ts';
import { keep } from '../../links/link-life.ts';
import { isShownCollaborator } from '../../platforms/github/association.ts';
import type { Payload } from '../../platforms/github/payload.ts';
import { cutToBytes } from '../../text.ts';
import { onGithub } from '../github-trigger.ts';
import { reportedState } from './defect-text.ts';
import { type IssueInput, issueEntity, issueJobs } from './jobs.ts';

const FOLLOWED = new Set('opened labeled unlabeled typed untyped edited closed reopened transferred'.split(' '));

/** Accepts events that change an issue's defect. */
export const on = onGithub('issues', issueJobs, (delivery, { repository, config, links, isKnown }) => {
  const { action } = delivery;
  if (action === 'deleted') return 'a deleted issue changes nothing; its defect, if it has one, stays';
  if (action === 'locked' || action === 'unlocked') return 'locking an issue changes nothing';
  if (!FOLLOWED.has(action)) return `no automation handles issues events with the action ${action}`;

  const settings = repository.issueToDefect;
  if (!settings) return `${delivery.repository.full_name} is not configured for ${issueJobs.name} in relay.config.ts`;
  const reported = reportedState(delivery.issue, delivery.repository.full_name, settings);
  const { state, version, wanted } = reported;
  const cameFrom = delivery.changes?.old_issue;
  if (action === 'opened' && !cameFrom && !wanted) {
    return `a new issue without the label ${settings.labels.join(' or ')}`;
  }

  const entity = issueEntity(delivery.issue.id);
  const input: IssueInput = { repository: repository.name, issueNumber: delivery.issue.number, entity };
  if (delivery.installation) input.installationId = delivery.installation.id;
  const transfer = transferIn(delivery);

  // GitHub does not document whether the `updated_at` of a transferred issue is the time of the transfer.
  const isTransfer = action === 'transferred' || cameFrom;
  const isNew = action === 'opened' && !cameFrom;
  return {
    // Two changes within one second have the same `updated_at`; the digest of the state distinguishes them.
    happened: [delivery.issue.id, action, version, digest(state)],
    at: isTransfer ? undefined : version,
    entity: state.name,
    summary: `${state.name} ${action}: ${cutToBytes(state.title, 200, '…')}`,
    input,
    stranger: strangerBehind(delivery),
    async keepState(id) {
      const kept = await links[isNew ? 'begin' : 'change'](entity, (link) => keep(link, reported));
      // The transfer is recorded now, before a job of either issue can run. For a repeated delivery, it is not: the
      // issue may have come back since.
      if (transfer && !(await isKnown(id))) {
        const connectionOf = (name: string) => findRepository(config, name.replace(/#.*/, ''))?.connection;
        await links.move(transfer.from, transfer.to, connectionOf);
      }
      return kept?.newest?.revision;
    },
  };
});

/**
 * Returns the login of the person behind the event if they are an outsider to the repository. An issue can be changed
 * by its author and by people with triage permission. GitHub's payloads do not show private memberships, so those
 * members count as outsiders.
 */
export function strangerBehind({ issue, sender }: Payload<'issues'>): string | undefined {
  const isAuthor = sender && sender.login === issue.user?.login;
  return isAuthor && !isShownCollaborator(issue.user, issue.author_association) ? sender.login : undefined;
}

/** Returns the links of the old and the new issue of a transfer. GitHub sends an event in both repositories. */
function transferIn({ action, changes, issue, repository }: Payload<'issues'>) {
  const { old_issue: old, new_issue: next, new_repository: there } = changes ?? {};
  const entity = issueEntity(issue.id);
  if (action === 'transferred' && next && there && next.id !== issue.id)
    return { from: entity, to: issueAt(next, there.full_name) };
  if (action === 'opened' && old && old.id !== issue.id)
    return { from: issueEntity(old.id), to: issueAt(issue, repository.full_name) };
  return undefined;
}

const issueAt = ({ id, number }: { id: number; number: number }, repository: string) => ({
  entity: issueEntity(id),
  name: `${repository}#${number}`,
});
