import { isDeepStrictEqual } from 'node:util';
import { findRepository } from '../../config/find-repository.ts';
import type { IssueToDefectConfig } from '../../config/schema.ts';
import { digest, digestFields } from '../../digest.ts';
import { NeedsOperator, RetryAt } from '../../engine/record/interruption.ts';
import type { Job } from '../../engine/record/job.ts';
import { LeaseLost } from '../../engine/record/job-store.ts';
import { markerIn } from '../../engine/record/markers.ts';
import { type Automation, defineAutomation } from '../../engine/run/automation.ts';
import type { Created, Steps } from '../../engine/run/steps.ts';
import type { IssueState } from '../../links/issue-state.ts';
import {
  beginUpdate,
  type Claim,
  claim,
  type Defect,
  finishUpdate,
  giveUp,
  type IssueName,
  type Link,
  make,
  noteApplied,
  type ReportedState,
  refuseUpdate,
  settleTie,
  takeOver,
} from '../../links/link-life.ts';
import type { GithubIssue } from '../../platforms/github/issue.ts';
import type { IssueAddress } from '../../platforms/github/issue-reader.ts';
import { createDefect, listDefects, updateDefect } from '../../service/partner/operations/defects.ts';
import { EXECUTABLE_FOR_MS } from '../../service/partner/signed-request.ts';
import type { Context } from '../context.ts';
import { CREATE_STEP, creationOf, fateOfClaim } from './claim-fate.ts';
import { appliedOf, defectFields, isDefect, toldOf } from './defect-text.ts';
import { type IssueInput, issueEntity, issueJobs } from './draft.ts';
import {
  decideClaim,
  decideCreation,
  decideUpdate,
  howToDecide,
  type IssueRepository,
  type Leave,
  looksAlike,
  mayHaveCreated,
  type Park,
} from './issue-decisions.ts';
import { createTransfers, type LeftLink } from './issue-transfers.ts';

/** The search for the defect of an earlier holder of the claim reads up to 2,000 defects of the project. */
const SEARCH_PAGES = 20;
const SEARCH_PAGE_SIZE = 100;
/** How soon a job looks again at another one that goes after it and holds the claim. */
const LOOK_AGAIN_MS = { running: 10_000, waiting: 60_000 };
/**
 * A run signs nothing after its lease has ended. The service takes a signature for five minutes, by a clock that may be
 * a minute late.
 */
const LATE_AFTER_RUN_MS = EXECUTABLE_FOR_MS + 60_000;

/** The issue that a job works on: its own, or the one that its defect moved to by a transfer. */
interface IssueRef extends IssueName {
  repository: IssueRepository;
  address: IssueAddress;
}

type IssueLink = Link<IssueState>;

/** @throws {NeedsOperator} for `park` */
function leaveOrPark({ does, why }: Leave | Park): string {
  if (does === 'park') throw new NeedsOperator(why);
  return `nothing to do: ${why}`;
}

/**
 * Keeps one defect in sync with one GitHub issue. It is level-triggered: a job does not apply its event, but updates
 * the defect to the newest state in the link. Late, repeated and out-of-order events therefore change nothing.
 */
export function issueToDefect(context: Context): Automation {
  const { config, links, journal, comments, issues, clock, markers } = context;
  const { whereabouts, settleArrived } = createTransfers(context);

  async function run(input: IssueInput, job: Job, steps: Steps): Promise<string> {
    for (;;) {
      const { entity, name, left } = await whereabouts(input.entity, job);
      const created = left && (await settleLeft(job, left, steps));
      const place = await placeOf({ entity, name }, input);
      const { repository } = place;
      if (entity !== input.entity && repository.connection !== job.connection)
        return `${created ?? 'nothing to do'}: the issue was transferred to ${repository.name}, on the connection ${repository.connection}`;
      const none = await makeDefect(job, place, steps);
      if (none !== undefined) return none;
      const outcome = await follow(job, place, steps);
      // No outcome means that the defect moved to another issue in the meantime.
      if (outcome !== undefined) return outcome;
    }
  }

  async function placeOf({ entity, name: told }: IssueName, input: IssueInput): Promise<IssueRef> {
    const { newest } = await links.get(entity);
    const isMoved = entity !== input.entity;
    // Until an event of the new issue arrives, only its name is known. Its repository may not be configured.
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

  /** What GitHub says about an issue; undefined if another issue has that number now, after a transfer. */
  function toldBy(
    issue: GithubIssue,
    { entity, repository }: IssueRef,
    name: string,
  ): ReportedState<IssueState> | undefined {
    if (issueEntity(issue.id) !== entity) return undefined;
    const [fullName = ''] = name.split('#');
    return { ...toldOf(issue, fullName, repository.settings), name };
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
    const { entity, repository } = place;
    const view = { job, repository };
    // An earlier run may still be active, and another job may be about to take over an idle claim.
    let isRenewed = false;
    const searchFor = (claim: Claim) => search(job, claim, place, steps);
    for (;;) {
      const link = await readLink(place, steps);
      if (link.life === 'moved') return undefined;
      if (link.arrived && link.life !== 'claimed') {
        const settled = await settleArrived(job, issueOn(place), link, searchFor);
        if (settled === 'changed') continue;
        if (settled) return settled.why;
      }
      if (link.life === 'made') return undefined;
      const isMine = link.life === 'claimed' && link.claim.by === job.id;
      if (link.life === 'claimed' && !isMine) {
        const why = await settleOther(job, link.claim, link, place);
        if (why !== undefined) return why;
        continue;
      }
      if (isMine && link.claim.inherited) {
        const { inherited } = link.claim;
        const id = await searchFor(link.claim);
        if (id !== undefined) {
          await links.change(entity, (link) => make(link, job.id, { id, applied: appliedOf(inherited) }));
          continue;
        }
      }
      if (isMine && (await settleArrived(job, issueOn(place), link, searchFor))) continue;
      const decision = decideCreation(link.newest, view);
      if (decision.does !== 'create' && !(isMine && (await hasBegun(job.id)))) {
        if (!link.newest && entity === issueJobs.inputOf(job).entity)
          throw new NeedsOperator(
            `what ${place.name} looks like is not known; change its labels, so that GitHub sends its state, then replay the job`,
          );
        return leaveOrPark(decision);
      }
      const made = isMine ? undefined : await madeBy(job.id);
      if (made !== undefined)
        return `nothing to do: a person unlinked defect ${made}, and the next event creates a new one`;
      if (!isMine || !isRenewed) {
        const marker = await markers.of('defect of an issue', entity, link.cleared?.times ?? 0);
        const own = { by: job.id, connection: job.connection, marker };
        isRenewed = (await links.change(entity, (link) => claim(link, own), link)) !== undefined;
        continue;
      }
      const defect = await create(job, link, link.claim, repository.settings, steps);
      await links.change(entity, (link) => make(link, job.id, defect));
    }
  }

  const issueOn = ({ entity, name, repository: { connection } }: IssueRef) => ({ entity, name, connection });

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
  ): Promise<Pick<Defect, 'id' | 'applied'>> {
    // After a transfer, the new link may have no state yet.
    const newest = link.newest ?? (await links.get(issueJobs.inputOf(job).entity)).newest;
    if (!newest) throw new NeedsOperator(`the link of ${job.entity} holds no state of its issue`);
    const fields = defectFields(newest.state, marker, settings);
    const payload = { project_id: settings.projectId, ...fields };
    // A person who cleared the link has seen that there is no defect.
    const notBefore = link.cleared?.at ?? Date.parse(newest.state.createdAt);
    const { id, sent } = await steps.create(CREATE_STEP, createDefect, payload, {
      marker,
      notBefore,
      decide: howToDecide(job),
    });
    return { id, applied: appliedOf(sent) };
  }

  /**
   * Settles another job's claim, or takes it over, unless that job does it itself.
   * @returns why the claim was left alone, or undefined
   * @throws {RetryAt} while a job that goes after this one is about to create the defect
   */
  async function settleOther(job: Job, held: Claim, link: IssueLink, place: IssueRef): Promise<string | undefined> {
    const { by } = held;
    const change = (transition: (link: IssueLink) => IssueLink | undefined) =>
      links.change(place.entity, transition, link);
    const decision = decideClaim(held, await fateOfClaim(by, context), { job, repository: place.repository });
    switch (decision.does) {
      case 'take over': {
        const { does, ...claim } = decision;
        await change((link) => takeOver(link, by, { by: job.id, ...claim }));
        return undefined;
      }
      case 'make':
        await change((link) => make(link, by, decision.defect, job.id));
        return undefined;
      case 'wait':
        throw new RetryAt(clock() + LOOK_AGAIN_MS[decision.while], decision.why, {
          releasesQueueGroup: true,
          waitsFor: 'job',
        });
      case 'leave to it':
        return `nothing to do: ${decision.why}`;
      case 'leave open':
        return `nothing done: ${decision.why}`;
      case 'park':
        throw new NeedsOperator(decision.why);
    }
  }

  /** Searches the service for a defect that an earlier holder of the claim may have created. */
  async function search(job: Job, { by, marker }: Claim, { repository: { settings } }: IssueRef, steps: Steps) {
    const { kept, whole } = await steps.list(
      `find-defect ${by}`,
      listDefects,
      { project_id: settings.projectId, per_page: SEARCH_PAGE_SIZE },
      ({ defect_id, description }) => (markerIn(description) === marker ? defect_id : undefined),
      (id) => id,
      SEARCH_PAGES,
    );
    if (kept[0] === undefined && !whole) {
      throw new NeedsOperator(
        `${mayHaveCreated(job)}: it is not among the first ${SEARCH_PAGES * SEARCH_PAGE_SIZE} defects of the project`,
      );
    }
    return kept[0];
  }

  /** Settles what this job has begun under a claim that did not move with its issue. @returns what it created */
  async function settleLeft(job: Job, { entity, link, claim }: LeftLink, steps: Steps): Promise<string | undefined> {
    const settings = findRepository(config, issueJobs.inputOf(job).repository)?.issueToDefect;
    if (!settings || !(await hasBegun(job.id))) return undefined;
    const defect = await create(job, link, claim, settings, steps);
    await links.change(entity, (link) => make(link, job.id, defect));
    return `created defect ${defect.id}`;
  }

  /**
   * Updates the defect until it has the newest state.
   * @returns undefined if the link no longer has a defect
   */
  async function follow(job: Job, place: IssueRef, steps: Steps): Promise<string | undefined> {
    const { entity, repository } = place;
    for (let updated = false; ; ) {
      const link = await readLink(place, steps);
      if (link.life !== 'made') return undefined;
      const { claim, defect, newest } = link;
      const begunAt = clock();
      const decision = decideUpdate(link, newest, { job, repository }, begunAt);
      if (decision.does !== 'send') return leaveOrPark(decision);
      const { all, fields } = decision;
      const applied = digestFields(all);
      if (Object.keys(fields).length > 0) {
        // An update that was begun but not confirmed may have changed anything, so the next update does not wait.
        const foldMs = repository.settings.foldSeconds * 1_000;
        const foldedUntil = (defect.updatedAt ?? Number.NEGATIVE_INFINITY) + foldMs;
        if (!defect.updating && begunAt < foldedUntil) {
          throw new RetryAt(foldedUntil, 'changes of one issue are sent together', { releasesQueueGroup: true });
        }
        await update(job, entity, defect, fields, steps);
        const times = { begunAt, updatedAt: clock() };
        await links.change(entity, (link) => finishUpdate(link, runOf(job), applied, times));
        updated = true;
        continue;
      }
      if (!isDeepStrictEqual(defect.applied, applied)) {
        await links.change(entity, (link) => noteApplied(link, applied), link);
        continue;
      }
      if (claim.by === job.id) await comment(job, place, defect.id, claim.marker, steps);
      if (defect.doubtful?.fields.some((field) => field in all)) {
        const why = `an update of defect ${defect.id} without an answer may still arrive`;
        throw new RetryAt(defect.doubtful.until, why, { releasesQueueGroup: true, waitsFor: 'answer' });
      }
      if (claim.by === job.id) return `created defect ${defect.id}`;
      return updated ? `updated defect ${defect.id}` : `nothing to do: ${looksAlike(defect)}`;
    }
  }

  /** Sends one update, unless another run begins one meanwhile. */
  async function update(job: Job, entity: string, { id, updates }: Defect, changed: object, steps: Steps) {
    const by = runOf(job);
    const until = (job.lease?.until ?? clock()) + LATE_AFTER_RUN_MS;
    // The number lets a state that returns be applied again.
    const step = `update-defect ${updates + 1} ${digest(changed).slice(0, 8)}`;
    await steps.set(
      step,
      updateDefect,
      { defect_id: id, ...changed },
      {
        async leaves() {
          const update = { by, fields: Object.keys(changed), until };
          const begun = await links.change(entity, (link) => beginUpdate(link, update, updates));
          return begun !== undefined;
        },
        async refused() {
          await links.change(entity, (link) => refuseUpdate(link, by));
        },
      },
    );
  }

  /** Two runs of a job can overlap, if a worker stalls. */
  const runOf = ({ id, lease }: Job) => lease?.owner ?? id;

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
    if (!place.repository.settings.comment) return steps.skip('comment', calls, 'relay.config.ts says not to comment');
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

  /**
   * A job gives up its claim if it ends because the issue wants no defect, or because an operator discarded it. A
   * parked job keeps its claim, so that its replay continues, unless a job of another event takes the claim over.
   */
  async function letGo(job: Job, ending: 'succeeded' | 'parked', isHeld: () => Promise<boolean>): Promise<void> {
    if (ending === 'parked' && !job.discarded) return;
    const input = issueJobs.inputOf(job);
    for (;;) {
      const { entity, name } = await whereabouts(input.entity, job);
      const link = await links.get(entity);
      if (link.life !== 'claimed' || link.claim.by !== job.id || (await hasBegun(job.id))) return;
      if (ending === 'succeeded' && link.newest) {
        const { repository } = await placeOf({ entity, name }, input);
        // Jobs of newer events have left the defect to this job.
        if (isDefect(link.newest.state.labels, repository.settings))
          throw new RetryAt(clock(), 'the issue changed meanwhile');
      }
      if (link.claim.inherited) return;
      // The order matters: a worker that takes over the job after this check renews the claim first.
      if (!(await isHeld())) throw new LeaseLost(job.id);
      if (await links.change(entity, (link) => giveUp(link, job.id), link)) return;
    }
  }

  return { ...defineAutomation(issueJobs, run), letGo };
}
