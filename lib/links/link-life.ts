import { isDeepStrictEqual } from 'node:util';

/**
 * The life of a link, as pure transitions. Each takes a link and returns what it becomes, the same link where there is
 * nothing to write, or undefined where the transition does not apply.
 *
 *     unclaimed ──claim──▶ claimed ──make──▶ made
 *         ▲                 │   ▲              │
 *         └────give up──────┘   └take over     │
 *         └──────────leave──────────┬──────────┘
 *                                   ▼
 *                                 moved
 *
 * A job claims a link before it creates, and ends in one of three ways: it made the defect; it created nothing and gives
 * the claim up; or nobody knows, and it stays parked with its claim until a person decides.
 */
export type Life =
  | { life: 'unclaimed' }
  /** A job makes the defect. */
  | { life: 'claimed'; claim: Claim }
  | { life: 'made'; claim: Claim; defect: Defect }
  /** The issue was transferred, and `to` is the link of the new one. The rest is what the link was until then. */
  | { life: 'moved'; to: string; claim?: Claim; defect?: Defect };

export type Link<State = unknown> = Life & {
  newest?: Newest<State>;
  /** Counts the writes of the link, so that a write is conditional on what was read. Missing before the first. */
  turn?: number;
};

export interface Claim {
  /** Id of the job that makes or made the defect. */
  by: string;
  /** The connection on which it is made. */
  connection: string;
  /** The text by which the defect and the comment are found again. It cannot be guessed. */
  marker: string;
}

export interface Defect {
  id: string | number;
  /**
   * What the relay last applied, by field. Undefined: unknown. A string: a digest of all fields together, from before
   * the fields were kept.
   */
  applied?: Applied | string;
  /** How many updates were begun. */
  updates: number;
  /** When the last update was carried out; epoch milliseconds. */
  updatedAt?: number;
  /** The last update, until it is known that it was carried out: its fields are the old ones or the new ones. */
  updating?: { by: string; fields: string[] };
}

export type Applied = Readonly<Record<string, string>>;

/** The newest state of the issue. */
export interface Newest<State = unknown> {
  state: State;
  /** `owner/name#number` */
  name: string;
  /** `updated_at` of the state; ISO 8601, so that it sorts as text. */
  version: string;
  /** Whether the issue should have a defect. */
  wanted: boolean;
  /** The turn in which it was kept: a state that comes back has another one. */
  revision: number;
  /** Another state has the same version, and it is unknown which of them is the newer. */
  tied: boolean;
}

/** A state as an event tells it. */
export type Told<State> = Pick<Newest<State>, 'state' | 'name' | 'version' | 'wanted'>;

const nextTurn = (link: Link) => (link.turn ?? 0) + 1;

/**
 * Keeps a state unless a newer one is known. Of two with the same version it goes by one that wants a defect until it is
 * known which is the newer, so that no order of deliveries ends without one; otherwise by the one that came later.
 */
export function keep<State>(link: Link<State>, told: Told<State>): Link<State> | undefined {
  const { newest } = link;
  if (newest && told.version < newest.version) return undefined;
  const revision = nextTurn(link);
  if (!newest || told.version > newest.version) return { ...link, newest: { ...told, revision, tied: false } };
  if (isDeepStrictEqual(newest.state, told.state)) return link;
  const keepsLast = newest.wanted && !told.wanted;
  if (keepsLast && newest.tied) return link;
  return { ...link, newest: { ...(keepsLast ? newest : told), revision, tied: true } };
}

/** Ends a tie with what GitHub says now, or without it where GitHub cannot be asked. */
export function settleTie<State>(
  link: Link<State>,
  tied: Newest<State>,
  read: Told<State> | undefined,
): Link<State> | undefined {
  if (link.newest?.revision !== tied.revision) return undefined;
  // An answer that is older than what GitHub told is from a replica that lags behind.
  const newer = read && read.version >= tied.version ? read : tied;
  return { ...link, newest: { ...tied, ...newer, tied: false } };
}

/** By the job that holds it already, it is a new turn: whatever else that job has under way no longer applies. */
export function claim<S>(link: Link<S>, claim: Claim): Link<S> | undefined {
  if (link.life === 'unclaimed') return { ...known(link), life: 'claimed', claim };
  return link.life === 'claimed' && link.claim.by === claim.by ? { ...link } : undefined;
}

export function giveUp<S>(link: Link<S>, by: string): Link<S> | undefined {
  return link.life === 'claimed' && link.claim.by === by ? { ...known(link), life: 'unclaimed' } : undefined;
}

/** Takes the claim from a job that ended without having created, or that is gone. The marker stays. */
export function takeOver<S>(link: Link<S>, from: string, to: Omit<Claim, 'marker'>): Link<S> | undefined {
  if (link.life !== 'claimed' || link.claim.by !== from) return undefined;
  return { ...link, claim: { ...link.claim, ...to } };
}

/**
 * Also for a claim that a transfer left behind, so that the link says what it was.
 * @param applied what the defect looks like, if that is known
 */
export function make<S>(
  link: Link<S>,
  by: string,
  id: string | number,
  applied: Applied | undefined,
): Link<S> | undefined {
  const defect: Defect = { id, ...(applied && { applied }), updates: 0 };
  if (link.life === 'claimed' && link.claim.by === by) return { ...link, life: 'made', defect };
  return link.life === 'moved' && link.claim?.by === by && !link.defect ? { ...link, defect } : undefined;
}

/** From here until the update is finished, its fields are unknown. */
export function beginUpdate<S>(link: Link<S>, by: string, fields: readonly string[]): Link<S> | undefined {
  if (link.life !== 'made') return undefined;
  const { updating, updates } = link.defect;
  if (updating?.by === by && fields.every((field) => updating.fields.includes(field))) return link;
  const all = [...new Set([...(updating?.fields ?? []), ...fields])];
  return { ...link, defect: { ...link.defect, updates: updates + 1, updating: { by, fields: all } } };
}

/** @param update the count of updates after it began; where another one has begun since, nothing is known */
export function finishUpdate<S>(link: Link<S>, update: number, applied: Applied, at: number): Link<S> | undefined {
  if (link.life !== 'made' || !link.defect.updating || link.defect.updates !== update) return undefined;
  const { updating, ...defect } = link.defect;
  return { ...link, defect: { ...defect, applied, updatedAt: at } };
}

/** Where nothing is left to be sent, also of an update whose fields the issue has no value for any more. */
export function noteApplied<S>(link: Link<S>, applied: Applied): Link<S> | undefined {
  if (link.life !== 'made') return undefined;
  const { updating, ...defect } = link.defect;
  return { ...link, defect: { ...defect, applied } };
}

/** Gives the claim or the defect of the old issue's link to the new one's, unless that has its own. */
export function carry<S>(
  to: Link<S>,
  { claim, defect }: { claim: Claim; defect?: Defect },
  from: string,
): Link<S> | undefined {
  if (to.life === 'moved' && to.to !== from) return undefined;
  // An issue that is transferred back begins where it left.
  const link: Link<S> = to.life === 'moved' ? { ...known(to), life: 'unclaimed' } : to;
  const theirs = link.life !== 'unclaimed' && link.claim.marker === claim.marker;
  if (link.life !== 'unclaimed' && !theirs) return undefined;
  if (link.life !== 'made') {
    return defect
      ? { ...known(link), life: 'made', claim, defect }
      : { ...known(link), life: 'claimed', claim: theirs ? link.claim : claim };
  }
  // Carried before, and then the old issue's link began an update.
  return defect?.updating ? beginUpdate(link, defect.updating.by, defect.updating.fields) : link;
}

export function leave<S>(link: Link<S>, to: string): Link<S> | undefined {
  return link.life === 'moved' ? undefined : { ...link, life: 'moved', to };
}

/** A person says which defect it is. What that looks like is unknown. */
export function setDefect<S>(link: Link<S>, claim: Claim, id: string | number): Link<S> {
  return { ...known(link), life: 'made', claim, defect: { id, updates: 0 } };
}

/** A person says that the issue has no defect. */
export function clear<S>(link: Link<S>): Link<S> {
  return { ...known(link), life: 'unclaimed' };
}

/** What every life of a link has. */
function known<S>({ newest, turn }: Link<S>): Pick<Link<S>, 'newest' | 'turn'> {
  return { ...(newest && { newest }), ...(turn !== undefined && { turn }) };
}
