import { NeedsOperator } from '../../engine/record/interruption.ts';
import type { Job } from '../../engine/record/job.ts';
import { LeaseLost } from '../../engine/record/job-store.ts';
import type { IssueState } from '../../links/issue-state.ts';
import {
  type Arrived,
  adopt,
  type Claim,
  type Defect,
  dismiss,
  type Holding,
  heldBy,
  type IssueName,
  type Link,
  type Moved,
  make,
  tell,
} from '../../links/link-life.ts';
import type { Context } from '../context.ts';
import { creationOf, fateOfClaim } from './claim-fate.ts';
import { appliedOf } from './defect-text.ts';

/** A moved link whose claim did not move with it, because the new issue had its own or is on another connection. */
export interface LeftLink {
  entity: string;
  link: Link<IssueState> & Moved;
  claim: Claim;
}

/** What has arrived at a link, and the link that it is from. */
interface Arrival extends Arrived, Partial<Holding> {
  old: Link<IssueState>;
}

type TransferContext = Pick<Context, 'links' | 'jobs' | 'journal' | 'clock'>;

/** What transfers mean for a job: where its issue is now, and which of two claims or defects stays. */
export function createTransfers(context: TransferContext) {
  const { links, jobs, journal, clock } = context;

  /**
   * Follows the transfers of an issue.
   * @returns the link at their end, and a link that was left with a claim of the job
   */
  async function whereabouts(first: string, job: Job): Promise<IssueName & { left?: LeftLink }> {
    const passed = new Set<string>();
    let last: LeftLink | undefined;
    for (let entity = first, name = job.entity; ; ) {
      const link: Link<IssueState> = await links.get(entity);
      if (link.life !== 'moved' || passed.has(entity)) {
        return last && heldBy(link).claim?.marker !== last.claim.marker
          ? { entity, name, left: last }
          : { entity, name };
      }
      if (link.claim?.by === job.id && !link.defect) last = { entity, link, claim: link.claim };
      passed.add(entity);
      ({ entity, name } = link.to);
    }
  }

  /**
   * Decides between the claim or defect of this issue and those of the issues that were transferred here.
   * @param search looks in the service for a defect that a discarded job may have created under its claim
   * @returns `changed` if the link has changed; why nothing is done, if another job has told a person; undefined if there
   *   is nothing to decide yet
   * @throws {NeedsOperator} if several of the issues have a defect
   */
  async function settleArrived(
    job: Job,
    { entity, name, connection }: IssueName & { connection: string },
    link: Link<IssueState>,
    search: (claim: Claim) => Promise<Defect['id'] | undefined>,
  ): Promise<'changed' | { why: string } | undefined> {
    if (!link.arrived) return undefined;
    const change = async (to: (link: Link<IssueState>) => Link<IssueState> | undefined) => {
      await links.change(entity, to, link);
      return 'changed' as const;
    };
    const own = heldBy(link);
    const all = await Promise.all(link.arrived.map(readArrival));
    const markers = new Set([own.claim?.marker]);
    for (const { from, claim, defect } of all) {
      const isKnown = markers.has(claim?.marker) || (defect && defect.id === own.defect?.id);
      if (!claim || isKnown) return change((link) => dismiss(link, from));
      markers.add(claim.marker);
    }
    const arrivals = all.filter(({ claim }) => claim?.connection === connection);
    if (link.life !== 'made') {
      const next = arrivals.find(({ defect }) => defect) ?? arrivals[0];
      if (!next) return undefined;
      if (link.life === 'claimed') {
        if (own.claim?.by !== job.id || creationOf(await journal(job.id)) !== 'none') return undefined;
        // A worker that takes over the job renews the claim before it sends anything, which is after this lease.
        if (job.lease && clock() >= job.lease.until) throw new LeaseLost(job.id);
      }
      return change((link) => adopt(link, next.from, next.old));
    }
    for (const { from, claim, defect } of arrivals) {
      if (!claim || defect) continue;
      const settled = await settleClaim(claim, search);
      if (settled === 'nothing') return change((link) => dismiss(link, from));
      if (settled === 'open') continue;
      await links.change(from, (link) => make(link, claim.by, settled));
      return 'changed';
    }
    const others = arrivals.filter(({ defect }) => defect);
    return others.length > 0 ? tellPerson(job, { entity, name }, link, others) : undefined;
  }

  async function readArrival(arrived: Arrived): Promise<Arrival> {
    const old = await links.get(arrived.from);
    return { ...arrived, old, ...heldBy(old) };
  }

  /** @returns what was created under a claim; `open` if its job settles its request and then comes here */
  async function settleClaim(
    claim: Claim,
    search: (claim: Claim) => Promise<Defect['id'] | undefined>,
  ): Promise<Pick<Defect, 'id' | 'applied'> | 'nothing' | 'open'> {
    const fate = await fateOfClaim(claim.by, context);
    switch (fate.fate) {
      case 'made':
        return { id: fate.created.id, applied: appliedOf(fate.created.sent) };
      case 'gone': {
        const id = await search(claim);
        return id === undefined ? 'nothing' : { id, applied: appliedOf(fate.sent) };
      }
      case 'nothing':
        return 'nothing';
      default:
        return 'open';
    }
  }

  /** One job is parked, and names all defects. */
  async function tellPerson(
    job: Job,
    { entity, name: told }: IssueName,
    link: Link<IssueState>,
    others: readonly Arrival[],
  ): Promise<{ why: string }> {
    const name = link.newest?.name ?? told;
    const theirs = others.map(
      ({ from, old, defect }) => `${old.newest?.name ?? from}, which was transferred to it, has defect ${defect?.id}`,
    );
    const which = [`${name} has defect ${heldBy(link).defect?.id}`, ...theirs].join(', and ');
    const rest = others.length > 1 ? 'others' : 'other one';
    const why = `${which}; decide with relay issue ${name} --set <defect id>, and close the ${rest}`;
    const tellers = await Promise.all(
      others.map(({ toldBy }) => (toldBy === undefined || toldBy === job.id ? undefined : jobs.get(toldBy))),
    );
    const [teller] = tellers;
    if (teller && tellers.every((one) => one && one.status !== 'succeeded'))
      return { why: `nothing done: ${teller.id} is parked, because ${why}` };
    await links.change(entity, (link) => tell(link, others, job.id));
    throw new NeedsOperator(why);
  }

  return { whereabouts, settleArrived };
}
