import { findRepository } from '../config/find-repository.ts';
import type { IssueToDefectConfig, RelayConfig } from '../config/schema.ts';
import { digest } from '../digest.ts';
import type { GithubDelivery } from '../github/delivery.ts';
import { type GithubIssue, type IssuesPayload, readIssuesPayload } from '../github/issue.ts';
import type { IssueComments } from '../github/issue-comments.ts';
import { Later, Park } from '../jobs/interruption.ts';
import { type Job, type JobDraft, jobId } from '../jobs/job.ts';
import type { JobStore } from '../jobs/job-store.ts';
import type { Journal } from '../jobs/journal.ts';
import type { Created, Steps } from '../jobs/steps.ts';
import { createDefect, updateDefect } from '../partner/defects.ts';
import { cutToBytes } from '../text.ts';
import type { Automation, Taken } from './automation.ts';
import { defectFields, type IssueState, isDefect } from './defect-text.ts';
import type { Link, Links } from './link.ts';

const NAME = 'issue-to-defect';
const CREATE_STEP = 'create-defect';
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
  wentTo?: { entity: string; name: string; repository: string };
  installationId?: number;
}

export interface IssueToDefectOptions {
  config: RelayConfig;
  links: Links;
  jobs: JobStore;
  journal: (jobId: string) => Promise<Journal>;
  comments: IssueComments;
  clock: () => number;
  randomBytes: (size: number) => Uint8Array;
}

/** What becomes of an `issues` delivery. Needs nothing but the payload, so that the webhook can ask it at once. */
export function takeIssue({ event, payload }: GithubDelivery, config: RelayConfig): Taken | undefined {
  if (event !== 'issues') return undefined;
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

  const job: JobDraft = {
    // Two changes within one second have one updated_at; the state tells them apart.
    id: jobId(NAME, delivery.issue.id, action, version, digest(state)),
    automation: NAME,
    connection: repository.connection,
    lane: 'background',
    entity: state.name,
    summary: `${state.name} ${action}: ${cutToBytes(state.title, 200, '…')}`,
    input,
  };
  return { jobs: [job], beforeStoring: (links) => links.keepNewest(entity, version, state) };
}

/**
 * One GitHub issue has one defect that looks like the issue. Level-triggered: a job does not carry out its event, but
 * makes the defect look like the newest state that the link holds, so that late, repeated and overtaken events change
 * nothing.
 */
export function issueToDefect(options: IssueToDefectOptions): Automation {
  const { config, links, jobs, journal, comments, clock, randomBytes } = options;

  async function run(job: Job, steps: Steps): Promise<string> {
    const input = job.input as Input;
    const { entity } = input;
    const settings = findRepository(config, input.repository)?.issueToDefect;
    if (!settings) throw new Park(`${input.repository} is not configured for ${NAME} in relay.config.ts any more`);
    if (input.wentTo) return handOver(entity, input.wentTo);
    if (input.cameFrom) await moveLink(input.cameFrom, entity, job.connection);

    const link = await readLink(entity);
    if (link.movedTo) return 'nothing to do: the issue was transferred, and its link with it';
    if (link.defectId === undefined) {
      if (!isDefect(stateOf(link, entity).labels, settings)) {
        return `nothing to do: the issue has no label ${settings.labels.join(' or ')} now, and no defect`;
      }
      const other = await makeDefect(job, entity, settings, steps);
      if (other) return other;
    }
    const updated = await follow(job, entity, settings, steps);
    const { defectId, claimedBy, marker } = await readLink(entity);
    if (defectId === undefined || marker === undefined || claimedBy !== job.id) return updated;
    await comment(input, defectId, marker, settings, steps);
    return `created defect ${defectId}`;
  }

  const readLink = async (entity: string) => (await links.get(entity)) as Link<IssueState>;

  /** Makes the defect, unless another job does. @returns what there is to say where it is another's */
  async function makeDefect(job: Job, entity: string, settings: IssueToDefectConfig, steps: Steps) {
    const marker = `[partner-relay ${Buffer.from(randomBytes(10)).toString('hex')}]`;
    let link = (await links.claim(entity, { jobId: job.id, connection: job.connection, marker })) as Link<IssueState>;
    let made: Created | undefined;
    if (link.claimedBy !== undefined && link.claimedBy !== job.id && link.defectId === undefined) {
      const maker = link.claimedBy;
      const fate = await fateOf(maker);
      if (fate === 'under way') return `nothing to do: ${maker} makes the defect, from the newest state of the issue`;
      if (fate === 'unknown') {
        return `nothing done: nobody knows whether ${maker}, which is parked, made the defect; relay resolve decides it`;
      }
      link = (await links.takeOver(entity, maker, job.id)) as Link<IssueState>;
      if (fate !== 'made nothing') made = fate;
    }
    if (link.movedTo) return 'nothing to do: the issue was transferred, and its link with it';
    if (link.defectId !== undefined) return undefined;
    if (link.claimedBy !== job.id) return `nothing to do: ${link.claimedBy} makes the defect`;

    const fields = defectFields(stateOf(link, entity), link.marker ?? marker, settings);
    const payload = { project_id: settings.projectId, ...fields };
    made ??= await steps.create(CREATE_STEP, createDefect, payload, link.marker ?? marker);
    // What was signed may be an older state than the one that is known now.
    const applied = made.signed === digest(payload) ? digest(fields) : undefined;
    await links.setDefect(entity, made.id, applied);
    return undefined;
  }

  /** What a job that claimed a link has made of it. */
  async function fateOf(id: string): Promise<Created | 'under way' | 'made nothing' | 'unknown'> {
    const [job, itsJournal] = await Promise.all([jobs.get(id), journal(id)]);
    const creation = itsJournal.entry(CREATE_STEP);
    if (creation?.status === 'done') return creation.result as Created;
    if (!job) throw new Park(`the defect was to be made by ${id}, of which nothing is known any more`);
    if (job.status !== 'parked') return 'under way';
    return itsJournal.openSteps().length > 0 ? 'unknown' : 'made nothing';
  }

  /** Makes the defect look like the newest state, as often as that moves on meanwhile. */
  async function follow(job: Job, entity: string, settings: IssueToDefectConfig, steps: Steps): Promise<string> {
    for (let updated = false; ; updated = true) {
      const link = await readLink(entity);
      const { defectId, applied, updates = 0, connection, marker = '' } = link;
      if (defectId === undefined)
        throw new Later(clock() + LOOK_AGAIN_MS, 'the defect of the issue is being made', { makesRoom: true });
      if (connection !== job.connection) {
        throw new Park(
          `defect ${defectId} is on the connection ${connection}, and this repository on ${job.connection}`,
        );
      }
      const fields = defectFields(stateOf(link, entity), marker, settings);
      const wanted = digest(fields);
      if (applied === wanted) {
        return updated ? `updated defect ${defectId}` : `nothing to do: defect ${defectId} looks like the issue`;
      }
      await links.beginUpdate(entity);
      // Numbered, so that a state which comes back is applied again.
      const step = `update-defect ${updates + 1} ${wanted.slice(0, 8)}`;
      await steps.call(step, updateDefect, { defect_id: defectId, ...fields }, () => defectId);
      await links.setApplied(entity, wanted);
    }
  }

  async function comment(
    input: Input,
    defectId: string | number,
    marker: string,
    settings: IssueToDefectConfig,
    steps: Steps,
  ): Promise<void> {
    const calls = 'GitHub comment';
    if (!settings.comment) return steps.skip('comment', calls, 'relay.config.ts says not to comment');
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

  /** Of an issue that was transferred away. */
  async function handOver(from: string, to: NonNullable<Input['wentTo']>): Promise<string> {
    await moveLink(from, to.entity, findRepository(config, to.repository)?.connection);
    const { defectId } = await links.get(to.entity);
    return defectId === undefined
      ? `transferred to ${to.name}; there was no defect to take along`
      : `transferred to ${to.name}, and defect ${defectId} with it`;
  }

  /**
   * The link of a transferred issue goes along, once there is no doubt what it links to. A defect on another connection
   * than the new repository's stays behind, and the issue gets one of its own there.
   */
  async function moveLink(from: string, to: string, connection: string | undefined): Promise<void> {
    const old = await links.get(from);
    if (old.movedTo) return;
    let { defectId } = old;
    if (defectId === undefined && old.claimedBy !== undefined) {
      const fate = await fateOf(old.claimedBy);
      if (fate === 'under way') {
        throw new Later(
          clock() + LOOK_AGAIN_MS,
          `${old.claimedBy} makes the defect of the issue that was transferred`,
          { makesRoom: true },
        );
      }
      if (fate === 'unknown') {
        throw new Park(
          `nobody knows whether ${old.claimedBy}, which is parked, made the defect; resolve that job first`,
        );
      }
      if (fate !== 'made nothing') defectId = fate.id;
    }
    if (defectId !== undefined && (connection === undefined || connection === old.connection)) {
      await links.carryOver({ ...old, defectId }, to);
    }
    if (await links.leave(from, to, old.claimedBy)) return;
    throw new Later(clock() + LOOK_AGAIN_MS, 'the defect of the issue that was transferred is being made', {
      makesRoom: true,
    });
  }

  return { name: NAME, run };
}

/** GitHub's id of the issue: it outlives a renamed repository, which the name does not. */
function entityOf(issueId: number): string {
  return `issue-${issueId}`;
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

function whereItWent({ action, changes, issue }: IssuesPayload): Input['wentTo'] {
  if (action !== 'transferred' || !changes?.new_issue || !changes.new_repository) return undefined;
  if (changes.new_issue.id === issue.id) return undefined;
  const repository = changes.new_repository.full_name;
  return { entity: entityOf(changes.new_issue.id), name: `${repository}#${changes.new_issue.number}`, repository };
}
