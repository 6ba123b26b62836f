import { isDeepStrictEqual } from 'node:util';
import type {
  Applied,
  Claim,
  Defect,
  Doubt,
  Holding,
  IssueName,
  Link,
  NewestState,
  ReportedState,
  Update,
} from './link-shape.ts';

/**
 * The life of a link, as pure transitions. Each takes a link and returns the next link, the same link if there is
 * nothing to write, or undefined if the transition does not apply.
 *
 *     unclaimed ──claim──▶ claimed ──make──▶ made
 *         ▲                 │   ▲              │
 *         └────give up──────┘   └take over     │
 *         └──────────leave──────────┬──────────┘
 *                                   ▼
 *                                 moved
 *
 * A job claims a link before it creates a defect, and ends in one of three ways: it created the defect; the issue no
 * longer wants one, and it gives up the claim; or it is parked with its claim, which another job may take over if
 * nothing was sent.
 */
export type * from './link-shape.ts';

/** The claim of a link, and the defect that was created for it. */
export function heldBy(link: Link): Partial<Holding> {
  if (link.life === 'made') return { claim: link.claim, defect: link.defect };
  return link.life === 'claimed' ? { claim: link.claim } : {};
}

const nextTurn = (link: Link) => (link.turn ?? 0) + 1;

/**
 * Stores a state unless a newer one is known. If two states have the same version, the one that wants a defect wins
 * until it is known which is newer, so that no order of deliveries ends without a defect. Otherwise the one that
 * arrived later wins.
 */
export function keep(link: Link, reported: ReportedState): Link | undefined {
  const { newest } = link;
  if (newest && reported.version < newest.version) return undefined;
  const revision = nextTurn(link);
  if (!newest || reported.version > newest.version) return { ...link, newest: { ...reported, revision, tied: false } };
  if (isDeepStrictEqual(newest.state, reported.state)) return link;
  const keepsLast = newest.wanted && !reported.wanted;
  if (keepsLast && newest.tied) return link;
  return { ...link, newest: { ...(keepsLast ? newest : reported), revision, tied: true } };
}

/** Settles a tie with GitHub's current state, or without it if GitHub cannot be asked or the issue is gone. */
export function settleTie(link: Link, tied: NewestState, read: ReportedState | 'gone' | undefined): Link | undefined {
  if (link.newest?.revision !== tied.revision) return undefined;
  if (read === 'gone') return { ...link, newest: { ...tied, tied: false, isGone: true } };
  // An answer that is older than a state that GitHub already sent comes from a lagging replica.
  const newer = read && read.version >= tied.version ? read : tied;
  return { ...link, newest: { ...tied, ...newer, tied: false } };
}

/** If the job already holds the claim, this starts a new turn, so that other runs of the job can no longer write. */
export function claim(link: Link, claim: Claim): Link | undefined {
  if (link.life === 'unclaimed') return { ...link, life: 'claimed', claim };
  return link.life === 'claimed' && link.claim.by === claim.by ? { ...link } : undefined;
}

export function giveUp(link: Link, by: string): Link | undefined {
  if (link.life !== 'claimed' || link.claim.by !== by || link.claim.inherited) return undefined;
  const { claim, ...rest } = link;
  return { ...rest, life: 'unclaimed' };
}

/** Takes the claim from a job that does not use it any more. The marker stays. */
export function takeOver(link: Link, from: string, to: Omit<Claim, 'marker'>): Link | undefined {
  if (link.life !== 'claimed' || link.claim.by !== from) return undefined;
  return { ...link, claim: { ...link.claim, ...to } };
}

/**
 * Records the defect of a job's claim.
 * @param finder the job that found the defect, if another job created it
 */
export function make(
  link: Link,
  by: string,
  { id, applied }: Pick<Defect, 'id' | 'applied'>,
  finder = by,
): Link | undefined {
  if (link.life !== 'claimed' || link.claim.by !== by) return undefined;
  const { connection, marker } = link.claim;
  return { ...link, life: 'made', claim: { by: finder, connection, marker }, defect: { id, applied, updates: 0 } };
}

/**
 * Written before an update is sent. If the last one has no answer, its fields become doubtful.
 * @param seen the count of updates when this one was made. If another one has begun since, this one must not be sent.
 */
export function beginUpdate(link: Link, update: Update, seen: number): Link | undefined {
  if (link.life !== 'made' || link.defect.updates !== seen) return undefined;
  return { ...link, defect: { ...inDoubt(link.defect), updates: seen + 1, updating: update } };
}

/** Nothing of the update was carried out. */
export function refuseUpdate(link: Link, by: string): Link | undefined {
  if (link.life !== 'made' || link.defect.updating?.by !== by) return undefined;
  const { updating, ...defect } = link.defect;
  return { ...link, defect: { ...defect, updates: defect.updates - 1 } };
}

/**
 * If another update has begun since, the values stay unknown.
 * @param times when it began and when it was answered; epoch milliseconds
 */
export function finishUpdate(
  link: Link,
  by: string,
  applied: Applied,
  { begunAt, updatedAt }: { begunAt: number; updatedAt: number },
): Link | undefined {
  if (link.life !== 'made' || link.defect.updating?.by !== by) return undefined;
  const { updating, doubtful, ...defect } = link.defect;
  const stays = doubtful && begunAt < doubtful.until;
  return { ...link, defect: { ...defect, applied, updatedAt, ...(stays && { doubtful }) } };
}

/** For when nothing is left to send, including an update of fields for which the issue no longer has a value. */
export function noteApplied(link: Link, applied: Applied): Link | undefined {
  return link.life === 'made' ? { ...link, defect: { ...inDoubt(link.defect), applied } } : undefined;
}

/** The defect with its unanswered update, and others, among what is doubtful. */
function inDoubt({ updating, doubtful, ...defect }: Defect, ...others: (Doubt | undefined)[]): Defect {
  const open = [doubtful, updating, ...others].filter((doubt) => doubt !== undefined);
  if (open.length === 0) return defect;
  const fields = [...new Set(open.flatMap((doubt) => doubt.fields))];
  return { ...defect, doubtful: { fields, until: Math.max(...open.map(({ until }) => until)) } };
}

/**
 * Records that an issue was transferred here. Its claim or defect moves if this link is free, or has it already because
 * the transfer is told again.
 */
export function arrive(link: Link, old: Link, from: string): Link | undefined {
  if (link.life === 'unreadable') return undefined;
  const { claim, defect } = heldBy(old);
  if (link.life !== 'moved' && !claim) return link;
  if (claim && canTake(link, claim)) {
    if (link.life === 'made') return defect ? withUnknown(link, defect) : link;
    if (link.life === 'claimed' && !defect) return link;
    const { arrived, ...rest } = { ...link, claim };
    return defect ? { ...rest, life: 'made', defect } : { ...rest, life: 'claimed' };
  }
  return link.arrived?.from === from ? link : { ...link, arrived: { from } };
}

/**
 * The transfer was recorded by half, so both issues were followed since: where what was sent for them differs, nobody knows
 * what the defect looks like.
 */
function withUnknown(link: Link & { life: 'made' }, old: Defect): Link {
  const { defect } = link;
  const open = old.updating?.fields ?? [];
  const known = Object.entries(defect.applied).filter(
    ([field, digest]) => old.applied[field] === digest && !open.includes(field),
  );
  if (known.length === Object.keys(defect.applied).length) return link;
  const updates = Math.max(defect.updates, old.updates) + 1;
  const applied = Object.fromEntries(known);
  return { ...link, defect: { ...inDoubt(defect, old.updating, old.doubtful), applied, updates } };
}

function canTake(link: Link, { marker }: Claim): boolean {
  return link.life === 'unclaimed' || heldBy(link).claim?.marker === marker;
}

/** What arrived came to nothing, or is this issue's own. */
export function dismiss({ arrived, ...link }: Link): Link {
  return link;
}

/** A job is parked, and tells a person of what has arrived. */
export function tell(link: Link, toldBy: string): Link | undefined {
  return link.arrived && { ...link, arrived: { ...link.arrived, toldBy } };
}

/** The issue was transferred. What it had must have arrived there. */
export function leave(link: Link, to: IssueName): Link | undefined {
  if (link.life === 'moved' || link.life === 'unreadable') return undefined;
  return { ...known(link), ...(link.arrived && { arrived: link.arrived }), life: 'moved', to };
}

/** A person says which defect the issue has. The defect's fields are unknown. */
export function setDefect(link: Link, claim: Claim, id: string | number): Link {
  return { ...known(link), life: 'made', claim, defect: { id, applied: {}, updates: 0 } };
}

/**
 * The service has the defect of an issue that the table knows nothing of. The defect's fields are unknown.
 * @param cleared how often the link had been cleared when the defect was made
 */
export function restore(
  link: Link,
  claim: Claim,
  id: string | number,
  cleared: { times: number; at: number },
): Link | undefined {
  const known = link.cleared?.times ?? 0;
  if (link.life !== 'unclaimed' || cleared.times < known) return undefined;
  const defect = { id, applied: {}, updates: 0 };
  return { ...link, life: 'made', claim, defect, ...(cleared.times > known && { cleared }) };
}

/** A person says that the issue has no defect. @param at epoch milliseconds */
export function clear(link: Link, at: number): Link {
  // An unreadable link may not say how often it was cleared before.
  const times = link.life === 'unreadable' ? at : (link.cleared?.times ?? 0) + 1;
  return { ...known(link), life: 'unclaimed', cleared: { times, at } };
}

/** The fields that a link has in every state, unless a person has decided what belongs to it. */
function known({ newest, cleared, turn }: Link): Pick<Link, 'newest' | 'cleared' | 'turn'> {
  return { ...(newest && { newest }), ...(cleared && { cleared }), ...(turn !== undefined && { turn }) };
}
