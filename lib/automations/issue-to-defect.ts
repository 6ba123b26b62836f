import { isDeepStrictEqual } from 'node:util';
import { findRepository } from '../config/find-repository.ts';
import type { IssueToDefectConfig } from '../config/schema.ts';
import { digest } from '../digest.ts';
import type { GithubIssue } from '../github/issue.ts';
import type { IssueAddress } from '../github/issue-reader.ts';
import { type Automation, defineAutomation } from '../jobs/automation.ts';
import { NeedsOperator, RetryAt } from '../jobs/interruption.ts';
import type { Job } from '../jobs/job.ts';
import { LeaseLost } from '../jobs/job-store.ts';
import type { Created, Steps } from '../jobs/steps.ts';
import type { IssueState } from '../links/issue-state.ts';
import { heldBy } from '../links/link-item.ts';
import {
  type Applied,
  beginUpdate,
  type Claim,
  claim,
  finishUpdate,
  giveUp,
  type Link,
  make,
  noteApplied,
  settleTie,
  type Told,
  takeOver,
} from '../links/link-life.ts';
import { createDefect, listDefects, updateDefect } from '../partner/defects.ts';
import { CREATE_STEP, creationOf, fateOfClaim } from './claim-fate.ts';
import { newMarker } from './decide-link.ts';
import { appliedOf, defectFields, fieldsToSend, isDefect, toldOf } from './defect-text.ts';
import { type IssueInput, issueEntity, issueJobs } from './issue-jobs.ts';
import type { Tools } from './tools.ts';

/** If the job that claimed a defect has no record any more, the search reads up to 2,000 defects of the project. */
const SEARCH_PAGES = 20;
const SEARCH_PAGE_SIZE = 100;

/** The issue that a job works on: its own, or the one that its defect moved to by a transfer. */
interface IssueRef {
  entity: string;
  connection: string;
  settings: IssueToDefectConfig;
  address: IssueAddress;
}

type IssueLink = Link<IssueState>;

/**
 * Keeps one defect in sync with one GitHub issue. It is level-triggered: a job does not apply its event, but updates
 * the defect to the newest state in the link. Late, repeated and out-of-order events therefore change nothing.
 */
export function issueToDefect(options: Tools): Automation {
  const { config, links, journal, comments, issues, clock, randomBytes } = options;

  async function run(input: IssueInput, job: Job, steps: Steps): Promise<string> {
    if (input.wentTo) return handOver(input.entity, input.wentTo);
    if (input.cameFrom) await links.move(input.cameFrom, input.entity, job.connection);
    /** Fields that this run sent while another job was updating too. Which update came last is unknown. */
    const unknown = new Set<string>();
    for (;;) {
      const entity = await whereabouts(input.entity);
      if (entity === undefined) return leftBehind(job, steps);
      const place = await placeOf(entity, input);
      const none = await makeDefect(job, place, steps);
      if (none !== undefined) return none;
      const outcome = await follow(job, place, unknown, steps);
      // No outcome means that the defect moved to another issue in the meantime.
      if (outcome !== undefined) return outcome;
    }
  }

  /** The link that has the issue's claim or defect now. @returns undefined if a transfer left the issue without them */
  async function whereabouts(entity: string, passed: readonly string[] = []): Promise<string | undefined> {
    const link = await links.get(entity);
    if (link.life !== 'moved') return entity;
    if (passed.includes(link.to)) return undefined;
    const there = heldBy(await links.get(link.to)).claim;
    if (!link.claim || there?.marker !== link.claim.marker) return undefined;
    return whereabouts(link.to, [...passed, entity]);
  }

  async function placeOf(entity: string, input: IssueInput): Promise<IssueRef> {
    const { newest } = await links.get(entity);
    const isMoved = entity !== input.entity;
    const [name, number] = isMoved && newest ? newest.name.split('#') : [input.repository, input.issueNumber];
    const repository = findRepository(config, name ?? '');
    if (!repository?.issueToDefect) {
      throw new NeedsOperator(`${name} is no longer configured for ${issueJobs.name} in relay.config.ts`);
    }
    const { connection, issueToDefect: settings } = repository;
    const installationId = isMoved ? undefined : input.installationId;
    return {
      ...{ entity, connection, settings },
      address: { repository: repository.name, issueNumber: Number(number), installationId },
    };
  }

  /** What GitHub says about an issue; undefined if another issue has that number now, after a transfer. */
  function toldBy(issue: GithubIssue, { entity, settings }: IssueRef, name: string): Told<IssueState> | undefined {
    if (issueEntity(issue.id) !== entity) return undefined;
    const [repository = ''] = name.split('#');
    return { ...toldOf(issue, repository, settings), name };
  }

  /** The link with the newest state. If two states have the same second, GitHub is asked which one is current. */
  async function readLink(place: IssueRef, steps: Steps): Promise<IssueLink> {
    const { entity, address } = place;
    for (;;) {
      const link = await links.get(entity);
      const { newest } = link;
      if (!newest?.tied) return link;
      await steps.read(`read-issue ${entity} ${newest.revision}`, 'GitHub issue', async () => {
        const issue = await issues.read(address);
        const read = issue && toldBy(issue, place, newest.name);
        await links.change(entity, (link) => settleTie(link, newest, read));
        return read ? { updatedAt: read.version } : 'GitHub does not tell; see docs/decisions/0003';
      });
    }
  }

  /**
   * Creates the defect, unless it exists or another job is creating it. If this job has begun a creation, it is settled
   * regardless of the current labels.
   * @returns why there is no defect; undefined if there is one, or if the link was moved
   */
  async function makeDefect(job: Job, place: IssueRef, steps: Steps): Promise<string | undefined> {
    const { entity, connection, settings } = place;
    // After a crash or a replay, an earlier run may still be active. It must not use the claim any more.
    let isRenewed = job.attempts === 0 && job.generation === 1;
    for (;;) {
      const link = await readLink(place, steps);
      if (link.life === 'made' || link.life === 'moved') return undefined;
      const isMine = link.life === 'claimed' && link.claim.by === job.id;
      if (link.life === 'claimed' && !isMine) {
        const why = await settleOther(job, link.claim, link, place, steps);
        if (why !== undefined) return why;
        continue;
      }
      const isWanted = link.newest !== undefined && isDefect(link.newest.state.labels, settings);
      if (!(isWanted && connection === job.connection) && !(isMine && (await hasBegun(job.id)))) {
        if (!isWanted)
          return `nothing to do: the issue has no label ${settings.labels.join(' or ')} now, and no defect`;
        throw new NeedsOperator(
          `${place.address.repository} is on the connection ${connection} now, and this job on ${job.connection}; the next event of the issue makes its defect`,
        );
      }
      const made = isMine ? undefined : await madeBy(job.id);
      if (made !== undefined)
        return `nothing to do: a person unlinked defect ${made}, and the next event creates a new one`;
      if (!isMine || !isRenewed) {
        const marker = newMarker(randomBytes);
        await links.change(entity, (link) => claim(link, { by: job.id, connection: job.connection, marker }));
        isRenewed = true;
        continue;
      }
      const { id, applied } = await create(job, link, link.claim, settings, steps);
      await links.change(entity, (link) => make(link, job.id, id, applied));
    }
  }

  const hasBegun = async (jobId: string) => creationOf(await journal(jobId)) !== 'none';

  /** What an earlier run of this job created. */
  async function madeBy(jobId: string): Promise<Created['id'] | undefined> {
    const creation = creationOf(await journal(jobId));
    return typeof creation === 'object' ? creation.id : undefined;
  }

  async function create(
    job: Job,
    link: IssueLink,
    { marker }: Claim,
    settings: IssueToDefectConfig,
    steps: Steps,
  ): Promise<{ id: Created['id']; applied: Applied | undefined }> {
    // After a transfer, the new link may have no state yet.
    const newest = link.newest ?? (await links.get(issueJobs.inputOf(job).entity)).newest;
    if (!newest) throw new NeedsOperator(`the link of ${job.entity} holds no state of its issue`);
    const fields = defectFields(newest.state, marker, settings);
    const payload = { project_id: settings.projectId, ...fields };
    const { id, signed } = await steps.create(CREATE_STEP, createDefect, payload, marker);
    // The signed request may hold an older state than the link.
    return { id, applied: signed === digest(payload) ? appliedOf(fields) : undefined };
  }

  /**
   * Settles another job's claim if that job has ended.
   * @returns why the claim was left alone, or undefined
   */
  async function settleOther(job: Job, held: Claim, link: IssueLink, place: IssueRef, steps: Steps) {
    const { by } = held;
    const { entity } = place;
    const own = { by: job.id, connection: job.connection };
    const fate = await fateOfClaim(by, options);
    switch (fate.fate) {
      case 'under way':
        // Events do not wait behind a backfill, which may be paused. Its job renews the claim before it sends anything, so
        // that only one of the two jobs gets it.
        if (fate.yields && job.lane !== 'backfill') {
          await links.change(entity, (link) => takeOver(link, by, own), link);
          return undefined;
        }
        return `nothing to do: ${by} makes the defect, from the newest state of the issue`;
      case 'unknown':
        return `nothing done: it is unknown whether ${by}, which is parked, created the defect; decide with relay resolve`;
      case 'nothing':
        await links.change(entity, (link) => takeOver(link, by, own), link);
        return undefined;
      case 'made':
        await linkFound(fate.created.id);
        return undefined;
      case 'gone': {
        const found = await search(job, held, place, steps);
        if (found === undefined) await links.change(entity, (link) => takeOver(link, by, own), link);
        else await linkFound(found);
        return undefined;
      }
    }

    async function linkFound(id: string | number): Promise<void> {
      const mine = await links.change(entity, (link) => takeOver(link, by, { ...held, by: job.id }), link);
      if (mine) await links.change(entity, (link) => make(link, job.id, id, undefined));
    }
  }

  /** Searches the service for the defect of a claim whose job has no record any more. */
  async function search(job: Job, { by, connection, marker }: Claim, { settings }: IssueRef, steps: Steps) {
    const decide = `${by} claimed the defect, but its record is gone; decide with relay link ${job.entity} --set <defect id> or --clear`;
    if (connection !== job.connection) throw new NeedsOperator(`on the connection ${connection}, ${decide}`);
    const { kept, whole } = await steps.list(
      `find-defect ${by}`,
      listDefects,
      { project_id: settings.projectId, per_page: SEARCH_PAGE_SIZE },
      ({ defect_id, description }) => (String(description).includes(marker) ? defect_id : undefined),
      (id) => id,
      SEARCH_PAGES,
    );
    if (kept[0] === undefined && !whole) {
      throw new NeedsOperator(
        `${decide}: it is not among the first ${SEARCH_PAGES * SEARCH_PAGE_SIZE} defects of the project`,
      );
    }
    return kept[0];
  }

  /** For a link that moved without its claim: settles what this job has begun. */
  async function leftBehind(job: Job, steps: Steps): Promise<string> {
    const { entity, repository } = issueJobs.inputOf(job);
    const link = await links.get(entity);
    const { claim: held } = heldBy(link);
    const settings = findRepository(config, repository)?.issueToDefect;
    if (!settings || held?.by !== job.id || !(await hasBegun(job.id)))
      return 'nothing to do: the issue was transferred';
    const { id } = await create(job, link, held, settings, steps);
    await links.change(entity, (link) => make(link, job.id, id, undefined));
    return `created defect ${id}; the issue was transferred meanwhile, and gets a defect of its own there`;
  }

  /**
   * Updates the defect until it has the newest state.
   * @returns undefined if the link no longer has a defect
   */
  async function follow(job: Job, place: IssueRef, unknown: Set<string>, steps: Steps): Promise<string | undefined> {
    const { entity, settings } = place;
    for (let updated = false; ; ) {
      const link = await readLink(place, steps);
      if (link.life !== 'made') return undefined;
      const { claim, defect, newest } = link;
      if (claim.connection !== job.connection) return onAnotherConnection(job, place, claim, defect.id);
      if (!newest) return `nothing to do: what the issue of defect ${defect.id} looks like is not known yet`;

      const fields = defectFields(newest.state, claim.marker, settings);
      const applied = appliedOf(fields);
      const doubtful = [...unknown, ...(defect.updating?.fields ?? [])];
      const changed = fieldsToSend(fields, defect.applied, doubtful);
      const names = Object.keys(changed);
      if (names.length > 0) {
        // An update that was begun but not confirmed may have changed anything, so the next update does not wait.
        const foldedUntil = (defect.updatedAt ?? Number.NEGATIVE_INFINITY) + settings.foldSeconds * 1_000;
        if (!defect.updating && clock() < foldedUntil) {
          throw new RetryAt(foldedUntil, 'changes of one issue are sent together', { releasesQueueGroup: true });
        }
        const begun = await links.change(entity, (link) => beginUpdate(link, job.id, names), link);
        if (begun?.life !== 'made') continue;
        const { updates } = begun.defect;
        // The number lets a state that returns be applied again.
        const step = `update-defect ${updates} ${digest(changed).slice(0, 8)}`;
        await steps.call(step, updateDefect, { defect_id: defect.id, ...changed }, () => defect.id);
        updated = true;
        if (await links.change(entity, (link) => finishUpdate(link, updates, applied, clock()))) unknown.clear();
        else for (const name of names) unknown.add(name);
        continue;
      }
      if (!isDeepStrictEqual(defect.applied, applied)) {
        await links.change(entity, (link) => noteApplied(link, applied), link);
        continue;
      }
      if (claim.by === job.id) {
        await comment(job, place, defect.id, claim.marker, steps);
        return `created defect ${defect.id}`;
      }
      return updated ? `updated defect ${defect.id}` : `nothing to do: defect ${defect.id} looks like the issue`;
    }
  }

  function onAnotherConnection(job: Job, place: IssueRef, { connection }: Claim, defectId: string | number): string {
    const where = `defect ${defectId} is on the connection ${connection}`;
    if (connection === place.connection) return `nothing to do: ${where}, and so are the later events of its issue`;
    throw new NeedsOperator(
      `${where}, and ${place.address.repository} is on ${place.connection} now; after relay link ${job.entity} --clear the next event makes another one there`,
    );
  }

  async function comment(
    job: Job,
    place: IssueRef,
    defectId: string | number,
    marker: string,
    steps: Steps,
  ): Promise<void> {
    const calls = 'GitHub comment';
    // The old issue may already have the comment, and GitHub accepts no more comments there.
    if (place.entity !== issueJobs.inputOf(job).entity)
      return steps.skip('comment', calls, 'the issue was transferred');
    if (!place.settings.comment) return steps.skip('comment', calls, 'relay.config.ts says not to comment');
    const { backfill } = issueJobs.inputOf(job);
    if (backfill?.comment === false) return steps.skip('comment', calls, 'the backfill was started without --comment');
    const replies = await comments.for(place.address);
    if (!replies) return steps.skip('comment', calls, 'there are no GitHub credentials in the secret');
    await steps.reply('comment', {
      calls,
      find: (since) => replies.find(marker, since),
      make: () => replies.make(`This issue is defect \`${defectId}\` now.\n\n<!-- ${marker} -->`),
    });
  }

  /** Moves the claim or defect to the issue that this one was transferred to. */
  async function handOver(from: string, to: NonNullable<IssueInput['wentTo']>): Promise<string> {
    await links.move(from, to.entity, findRepository(config, to.repository)?.connection);
    const { claim, defect } = heldBy(await links.get(to.entity));
    if (defect) return `transferred to ${to.name}, and defect ${defect.id} with it`;
    return claim
      ? `transferred to ${to.name}; ${claim.by} makes its defect`
      : `transferred to ${to.name}; there was no defect to take along`;
  }

  /**
   * A job that ends without creating a defect gives up its claim. A job whose request is open or was executed keeps the
   * claim: it is parked, and `resolve`, `replay` or the next event continues from its journal.
   */
  async function letGo(job: Job, ending: 'succeeded' | 'parked', isHeld: () => Promise<boolean>): Promise<void> {
    const input = issueJobs.inputOf(job);
    for (;;) {
      const entity = (await whereabouts(input.entity)) ?? input.entity;
      const link = await links.get(entity);
      if (link.life !== 'claimed' || link.claim.by !== job.id || (await hasBegun(job.id))) return;
      if (ending === 'succeeded' && link.newest) {
        const { settings } = await placeOf(entity, input);
        // Jobs of newer events have left the defect to this job.
        if (isDefect(link.newest.state.labels, settings)) throw new RetryAt(clock(), 'the issue changed meanwhile');
      }
      // The order matters: a worker that takes over the job after this check renews the claim first.
      if (!(await isHeld())) throw new LeaseLost(job.id);
      if (await links.change(entity, (link) => giveUp(link, job.id), link)) return;
    }
  }

  return { ...defineAutomation(issueJobs, run), letGo };
}
