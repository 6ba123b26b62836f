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

/** Returns the claim of a link, and its defect. */
export function heldBy(link: Link): Partial<Holding> {
  if (link.life === 'made') return { claim: link.claim, defect: link.defect };
  return link.life === 'claimed' ? { claim: link.claim } : {};
}

const nextTurn = (link: Link) => (link.turn ?? 0) + 1;

/**
 * Stores a state unless a newer one is known. If two states have the same version, the later arrival wins. There is one
 * exception, so that no order of deliveries ends without a defect: a state that wants a defect wins until it is known
 * which one is newer.
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

/** Settles a tie with GitHub's current state, or without it if GitHub cannot answer or the issue is gone. */
export function settleTie(link: Link, tied: NewestState, read: ReportedState | 'gone' | undefined): Link | undefined {
  if (link.newest?.revision !== tied.revision) return undefined;
  if (read === 'gone') return { ...link, newest: { ...tied, tied: false, isGone: true } };
  // An answer older than a state that GitHub has already sent comes from a lagging replica.
  const newer = read && read.version >= tied.version ? read : tied;
  return { ...link, newest: { ...tied, ...newer, tied: false } };
}

/**
 * Claims a link. If the job already holds the claim, starts a new turn, so that other runs of the job can no longer
 * write.
 */
export function claim(link: Link, claim: Claim): Link | undefined {
  if (link.life === 'unclaimed') return { ...link, life: 'claimed', claim };
  return link.life === 'claimed' && link.claim.by === claim.by ? { ...link } : undefined;
}

export function giveUp(link: Link, by: string): Link | undefined {
  if (link.life !== 'claimed' || link.claim.by !== by || link.claim.inherited) return undefined;
  const { claim, ...rest } = link;
  return { ...rest, life: 'unclaimed' };
}

/** Takes the claim from a job that no longer uses it. The marker stays. */
export function takeOver(link: Link, from: string, to: Omit<Claim, 'marker'>): Link | undefined {
  if (link.life !== 'claimed' || link.claim.by !== from) return undefined;
  return { ...link, claim: { ...link.claim, ...to } };
}

/**
 * Records the defect that a job created under its claim.
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
 * Records an update before it is sent. If the last update has no answer, its fields become doubtful.
 * @param seen the count of updates when this update was made. If another update has begun since, this one must not be
 * sent
 */
export function beginUpdate(link: Link, update: Update, seen: number): Link | undefined {
  if (link.life !== 'made' || link.defect.updates !== seen) return undefined;
  return { ...link, defect: { ...inDoubt(link.defect), updates: seen + 1, updating: update } };
}

/** Removes an update that was not carried out. */
export function refuseUpdate(link: Link, by: string): Link | undefined {
  if (link.life !== 'made' || link.defect.updating?.by !== by) return undefined;
  const { updating, ...defect } = link.defect;
  return { ...link, defect: { ...defect, updates: defect.updates - 1 } };
}

/**
 * Records an answered update. If another update has begun since, the values stay unknown.
 * @param times when the update began and when it was answered; epoch milliseconds
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

/**
 * Records the applied fields when nothing is left to send, for example because the issue no longer has a value for a
 * field.
 */
export function noteApplied(link: Link, applied: Applied): Link | undefined {
  return link.life === 'made' ? { ...link, defect: { ...inDoubt(link.defect), applied } } : undefined;
}

/** Adds a defect's unanswered update, and others, to its doubtful fields. */
function inDoubt({ updating, doubtful, ...defect }: Defect, ...others: (Doubt | undefined)[]): Defect {
  const open = [doubtful, updating, ...others].filter((doubt) => doubt !== undefined);
  if (open.length === 0) return defect;
  const fields = [...new Set(open.flatMap((doubt) => doubt.fields))];
  return { ...defect, doubtful: { fields, until: Math.max(...open.map(({ until }) => until)) } };
}

/**
 * Records that an issue was transferred here. Its claim or defect moves if this link is free, or already has it because
 * the event is a repeat.
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
 * Removes the fields that may differ after a transfer that was only half recorded. Both issues were followed since, so
 * fields for which different values were sent are unknown.
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

/** Ends the arrival: it came to nothing, or is now this issue's own. */
export function dismiss({ arrived, ...link }: Link): Link {
  return link;
}

/** Records the parked job that tells a person what has arrived. */
export function tell(link: Link, toldBy: string): Link | undefined {
  return link.arrived && { ...link, arrived: { ...link.arrived, toldBy } };
}

/** Records that the issue was transferred. Everything that it had must have arrived at the new link before. */
export function leave(link: Link, to: IssueName): Link | undefined {
  if (link.life === 'moved' || link.life === 'unreadable') return undefined;
  return { ...known(link), ...(link.arrived && { arrived: link.arrived }), life: 'moved', to };
}

/** Sets the defect that a person named. The defect's fields are unknown. */
export function setDefect(link: Link, claim: Claim, id: string | number): Link {
  return { ...known(link), life: 'made', claim, defect: { id, applied: {}, updates: 0 } };
}

/**
 * Records the defect of an issue that the service has and the table lost. The defect's fields are unknown.
 * @param cleared how often the link had been cleared when the defect was created
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

/** Removes the defect, because a person says that the issue has none. @param at epoch milliseconds */
export function clear(link: Link, at: number): Link {
  // An unreadable link may have lost the number of earlier clearings.
  const times = link.life === 'unreadable' ? at : (link.cleared?.times ?? 0) + 1;
  return { ...known(link), life: 'unclaimed', cleared: { times, at } };
}

/** Returns the fields that a link keeps in every state, and after a person's decision. */
function known({ newest, cleared, turn }: Link): Pick<Link, 'newest' | 'cleared' | 'turn'> {
  return { ...(newest && { newest }), ...(cleared && { cleared }), ...(turn !== undefined && { turn }) };
}
