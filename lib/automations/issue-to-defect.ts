import { findRepository, type IssueToDefectConfig, type RelayConfig } from '../config/schema.ts';
import { digest } from '../digest.ts';
import type { GithubDelivery } from '../github/delivery.ts';
import { type GithubIssue, type IssuesPayload, readIssuesPayload } from '../github/issue.ts';
import type { IssueComments } from '../github/issue-comments.ts';
import { Later, Park } from '../jobs/interruption.ts';
import { type Job, jobId } from '../jobs/job.ts';
import type { JobStore } from '../jobs/job-store.ts';
import type { Steps } from '../jobs/steps.ts';
import { createDefect, updateDefect } from '../partner/defects.ts';
import { cutToBytes } from '../text.ts';
import type { Automation, Taken } from './automation.ts';
import { type DefectFields, defectFields, type IssueState, isDefect } from './defect-text.ts';
import type { Link, Links } from './link.ts';

const NAME = 'issue-to-defect';
const FOLLOWED = new Set(['opened', 'labeled', 'edited', 'unlabeled', 'closed', 'reopened', 'transferred']);
/** While somebody else makes the defect that this job is about. */
const LOOK_AGAIN_MS = 30_000;

/** What a job of this automation knows; everything else is in the link, which is newer. */
interface Input extends Record<string, unknown> {
  repository: string;
  issueNumber: number;
  /** Key of the link. */
  entity: string;
  /** Of an issue that came by a transfer: the link of the old one. */
  cameFrom?: string;
  /** Of an issue that went by a transfer: the link of the new one, and its name. */
  wentTo?: { entity: string; name: string };
  installationId?: number;
}

export interface IssueToDefectOptions {
  config: RelayConfig;
  links: Links;
  jobs: JobStore;
  comments: IssueComments;
  clock: () => number;
}

/** What becomes of an `issues` delivery. Needs nothing but the payload, so that the webhook can ask it at once. */
export function takeIssue({ event, payload }: GithubDelivery, config: RelayConfig): Taken {
  if (event !== 'issues') return { ignored: `no automation takes ${event} events` };
  const action = String(payload.action);
  if (action === 'deleted') return { ignored: 'a deleted issue changes nothing; its defect, if it has one, stays' };
  if (action === 'locked' || action === 'unlocked') return { ignored: 'locking an issue changes nothing' };
  if (!FOLLOWED.has(action)) return { ignored: `no automation takes issues events with the action ${action}` };

  const delivery = readIssuesPayload(payload);
  const repository = findRepository(config, delivery.repository.full_name);
  if (!repository?.issueToDefect) {
    return { ignored: `${delivery.repository.full_name} is not configured for ${NAME} in relay.config.ts` };
  }
  const state = issueState(delivery.issue, delivery.repository.full_name, repository.issueToDefect);
  const cameFrom = delivery.changes?.old_issue;
  if (action === 'opened' && !cameFrom && !isDefect(state.labels, repository.issueToDefect)) {
    return { ignored: `a new issue without the label ${repository.issueToDefect.labels.join(' or ')}` };
  }

  const version = delivery.issue.updated_at;
  const entity = entityOf(delivery.issue.id);
  const input: Input = { repository: repository.name, issueNumber: delivery.issue.number, entity };
  if (cameFrom && cameFrom.id !== delivery.issue.id) input.cameFrom = entityOf(cameFrom.id);
  if (delivery.installation) input.installationId = delivery.installation.id;
  const wentTo = whereItWent(delivery);
  if (wentTo) input.wentTo = wentTo;

  return {
    job: {
      // Two changes within one second have one updated_at; the state tells them apart.
      id: jobId(NAME, delivery.issue.id, action, version, digest(state)),
      automation: NAME,
      connection: repository.connection,
      lane: 'background',
      entity: state.name,
      summary: `${state.name} ${action}: ${cutToBytes(state.title, 200, '…')}`,
      input,
    },
    beforeStoring: (links) => links.keepNewest(entity, version, state),
  };
}

/**
 * One GitHub issue has one defect that looks like the issue. Level-triggered: a job does not carry out its event, but
 * makes the defect look like the newest state that the link holds, so that late, repeated and overtaken events change
 * nothing.
 */
export function issueToDefect({ config, links, jobs, comments, clock }: IssueToDefectOptions): Automation {
  async function run(job: Job, steps: Steps): Promise<string> {
    const input = job.input as Input;
    const { entity } = input;
    const settings = findRepository(config, input.repository)?.issueToDefect;
    if (!settings) throw new Park(`${input.repository} is not configured for ${NAME} in relay.config.ts any more`);
    if (input.wentTo) return handOver(entity, input.wentTo);
    if (input.cameFrom) await moveLink(input.cameFrom, entity);

    const link = await readLink(entity);
    if (link.movedTo) return 'nothing to do: the issue was transferred, and its link with it';
    if (link.defectId === undefined) {
      const state = stateOf(link, entity);
      if (!isDefect(state.labels, settings)) {
        return `nothing to do: the issue has no label ${settings.labels.join(' or ')} now, and no defect`;
      }
      const fields = defectFields(state, markerOf(entity), settings);
      const other = await claim(entity, job.id, digest(fields));
      if (other) return `nothing to do: ${other} makes the defect, from the newest state of the issue`;
      await create(entity, fields, settings, steps);
    }
    const updated = await follow(entity, settings, steps);
    const { defectId, claimedBy } = await readLink(entity);
    if (defectId === undefined || claimedBy !== job.id) return updated;
    await comment(input, defectId, settings, steps);
    return `created defect ${defectId}`;
  }

  const readLink = async (entity: string) => (await links.get(entity)) as Link<IssueState>;

  /** @returns the job that makes the defect, where it is another one */
  async function claim(entity: string, id: string, applied: string): Promise<string | undefined> {
    const { claimedBy } = await links.claim(entity, id, applied);
    if (!claimedBy || claimedBy === id) return undefined;
    const maker = await jobs.get(claimedBy);
    if (!maker) throw new Park(`the defect was to be made by ${claimedBy}, which is forgotten`);
    // A maker that was clearly refused has made nothing: the next event may have what it lacked.
    const refused = maker.status === 'parked' && !maker.parked?.outcomeUnknown;
    if (!refused) return claimedBy;
    const taken = await links.takeOver(entity, claimedBy, id, applied);
    return taken.claimedBy === id ? undefined : taken.claimedBy;
  }

  async function create(entity: string, fields: DefectFields, settings: IssueToDefectConfig, steps: Steps) {
    const payload = { project_id: settings.projectId, ...fields };
    await links.setDefect(entity, await steps.create('create-defect', createDefect, payload, markerOf(entity)));
  }

  /** Makes the defect look like the newest state, as often as that moves on meanwhile. */
  async function follow(entity: string, settings: IssueToDefectConfig, steps: Steps): Promise<string> {
    for (let updated = false; ; updated = true) {
      const link = await readLink(entity);
      const { defectId, applied, updates = 0 } = link;
      if (defectId === undefined) throw new Later(clock() + LOOK_AGAIN_MS, 'the defect of the issue is being made');
      const fields = defectFields(stateOf(link, entity), markerOf(entity), settings);
      const wanted = digest(fields);
      if (applied === wanted) {
        return updated ? `updated defect ${defectId}` : `nothing to do: defect ${defectId} looks like the issue`;
      }
      // Numbered, so that a state which comes back is applied again.
      const step = `update-defect ${updates + 1} ${wanted.slice(0, 8)}`;
      await steps.call(step, updateDefect, { defect_id: defectId, ...fields }, () => defectId);
      await links.setApplied(entity, wanted);
    }
  }

  async function comment(input: Input, defectId: string | number, settings: IssueToDefectConfig, steps: Steps) {
    const calls = 'GitHub comment';
    if (!settings.comment) return steps.skip('comment', calls, 'relay.config.ts says not to comment');
    const marker = markerOf(input.entity);
    const place = {
      repository: input.repository,
      issueNumber: input.issueNumber,
      installationId: input.installationId,
    };
    const replies = await comments.for(place);
    if (!replies) return steps.skip('comment', calls, 'there are no GitHub credentials in the secret');
    await steps.reply('comment', {
      calls,
      find: (since) => replies.find(marker, since),
      make: () => replies.make(`This issue is defect \`${defectId}\` now.\n\n<!-- ${marker} -->`),
    });
  }

  async function handOver(from: string, to: { entity: string; name: string }): Promise<string> {
    await moveLink(from, to.entity);
    const { defectId } = await links.get(to.entity);
    return defectId === undefined
      ? `transferred to ${to.name}; there was no defect to take along`
      : `transferred to ${to.name}, and defect ${defectId} with it`;
  }

  /** The link of a transferred issue goes along, once there is no doubt what it links to. */
  async function moveLink(from: string, to: string): Promise<void> {
    if (await links.move(from, to)) return;
    const { claimedBy = '' } = await links.get(from);
    const maker = await jobs.get(claimedBy);
    if (maker?.status === 'parked') throw new Park(`${claimedBy}, which makes the defect, is parked; replay it first`);
    throw new Later(clock() + LOOK_AGAIN_MS, `${claimedBy} makes the defect of the issue that was transferred`);
  }

  return { name: NAME, take: takeIssue, run };
}

/** GitHub's id of the issue: it outlives a renamed repository, which the name does not. */
function entityOf(issueId: number): string {
  return `issue-${issueId}`;
}

/** Stands in the defect's description, and hidden in the comment. */
function markerOf(entity: string): string {
  return `[partner-relay ${digest(entity)}]`;
}

function stateOf(link: Link<IssueState>, entity: string): IssueState {
  if (!link.state) throw new Park(`the link ${entity} holds no state of its issue`);
  return link.state;
}

function issueState(issue: GithubIssue, repository: string, config: IssueToDefectConfig): IssueState {
  return {
    name: `${repository}#${issue.number}`,
    title: issue.title,
    // An item holds 400 KB, and nobody sees more of the body than the description has room for.
    body: cutToBytes(issue.body ?? '', config.maxDescriptionBytes + 1_000, ''),
    author: issue.user ? `@${issue.user.login}` : 'a deleted account',
    url: issue.html_url,
    state: issue.state ?? 'open',
    stateReason: issue.state_reason ?? null,
    labels: (issue.labels ?? []).map((label) => label.name),
  };
}

function whereItWent({ action, changes, issue }: IssuesPayload): { entity: string; name: string } | undefined {
  if (action !== 'transferred' || !changes?.new_issue || !changes.new_repository) return undefined;
  if (changes.new_issue.id === issue.id) return undefined;
  return {
    entity: entityOf(changes.new_issue.id),
    name: `${changes.new_repository.full_name}#${changes.new_issue.number}`,
  };
}
