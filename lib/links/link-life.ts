import { isDeepStrictEqual } from 'node:util';

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
 * A job claims a link before it creates a defect, and ends in one of three ways: it created the defect; it created
 * nothing and gives up the claim; or the result is unknown, and it stays parked with its claim until a person decides.
 */
export type Life =
  | { life: 'unclaimed' }
  /** A job is creating the defect. */
  | { life: 'claimed'; claim: Claim }
  | { life: 'made'; claim: Claim; defect: Defect }
  /**
   * The issue was transferred, and `to` is the link of the new issue. The other fields are from before the transfer.
   */
  | { life: 'moved'; to: string; claim?: Claim; defect?: Defect };

export type Link<State = unknown> = Life & {
  newest?: Newest<State>;
  /**
   * Counts the writes of the link, so that each write is conditional on what was read. Missing before the first write.
   */
  turn?: number;
};

export interface Claim {
  /** Id of the job that is creating or has created the defect. */
  by: string;
  /** The connection of the defect. */
  connection: string;
  /** The text that identifies the defect and the comment in a search. It cannot be guessed. */
  marker: string;
}

export interface Defect {
  id: string | number;
  /**
   * The last values that the relay applied, by field. Undefined: unknown. A string: a digest of all fields, from
   * versions that did not store single fields.
   */
  applied?: Applied | string;
  /** How many updates have begun. */
  updates: number;
  /** When the last update was applied; epoch milliseconds. */
  updatedAt?: number;
  /** The last update, until it is confirmed. Until then, each of its fields may have the old or the new value. */
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
  /** True if the issue should have a defect. */
  wanted: boolean;
  /** The turn in which the state was stored. A state that returns gets a new one. */
  revision: number;
  /** Another state has the same version, and it is unknown which one is newer. */
  tied: boolean;
}

/** A state as an event reports it. */
export type Told<State> = Pick<Newest<State>, 'state' | 'name' | 'version' | 'wanted'>;

const nextTurn = (link: Link) => (link.turn ?? 0) + 1;

/**
 * Stores a state unless a newer one is known. If two states have the same version, the one that wants a defect wins
 * until it is known which is newer, so that no order of deliveries ends without a defect. Otherwise the one that
 * arrived later wins.
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

/** Settles a tie with GitHub's current state, or without it if GitHub cannot be asked. */
export function settleTie<State>(
  link: Link<State>,
  tied: Newest<State>,
  read: Told<State> | undefined,
): Link<State> | undefined {
  if (link.newest?.revision !== tied.revision) return undefined;
  // An answer that is older than a state that GitHub already sent comes from a lagging replica.
  const newer = read && read.version >= tied.version ? read : tied;
  return { ...link, newest: { ...tied, ...newer, tied: false } };
}

/** If the job already holds the claim, this starts a new turn, so that other runs of the job can no longer write. */
export function claim<S>(link: Link<S>, claim: Claim): Link<S> | undefined {
  if (link.life === 'unclaimed') return { ...known(link), life: 'claimed', claim };
  return link.life === 'claimed' && link.claim.by === claim.by ? { ...link } : undefined;
}

export function giveUp<S>(link: Link<S>, by: string): Link<S> | undefined {
  return link.life === 'claimed' && link.claim.by === by ? { ...known(link), life: 'unclaimed' } : undefined;
}

/** Takes the claim from a job that ended without creating a defect, or whose record is gone. The marker stays. */
export function takeOver<S>(link: Link<S>, from: string, to: Omit<Claim, 'marker'>): Link<S> | undefined {
  if (link.life !== 'claimed' || link.claim.by !== from) return undefined;
  return { ...link, claim: { ...link.claim, ...to } };
}

/**
 * Also applies to a claim that a transfer left behind, so that the link records the defect.
 * @param applied the defect's fields, if known
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

/** From here until the update is confirmed, the values of its fields are unknown. */
export function beginUpdate<S>(link: Link<S>, by: string, fields: readonly string[]): Link<S> | undefined {
  if (link.life !== 'made') return undefined;
  const { updating, updates } = link.defect;
  if (updating?.by === by && fields.every((field) => updating.fields.includes(field))) return link;
  const all = [...new Set([...(updating?.fields ?? []), ...fields])];
  return { ...link, defect: { ...link.defect, updates: updates + 1, updating: { by, fields: all } } };
}

/** @param update the count of updates when it began; if another update has begun since, the values stay unknown */
export function finishUpdate<S>(link: Link<S>, update: number, applied: Applied, at: number): Link<S> | undefined {
  if (link.life !== 'made' || !link.defect.updating || link.defect.updates !== update) return undefined;
  const { updating, ...defect } = link.defect;
  return { ...link, defect: { ...defect, applied, updatedAt: at } };
}

/** For when nothing is left to send, including an update of fields for which the issue no longer has a value. */
export function noteApplied<S>(link: Link<S>, applied: Applied): Link<S> | undefined {
  if (link.life !== 'made') return undefined;
  const { updating, ...defect } = link.defect;
  return { ...link, defect: { ...defect, applied } };
}

/** Moves the claim or defect from the old issue's link to the new one, unless that has its own. */
export function carry<S>(
  to: Link<S>,
  { claim, defect }: { claim: Claim; defect?: Defect },
  from: string,
): Link<S> | undefined {
  if (to.life === 'moved' && to.to !== from) return undefined;
  // An issue that is transferred back continues where it was.
  const link: Link<S> = to.life === 'moved' ? { ...known(to), life: 'unclaimed' } : to;
  const theirs = link.life !== 'unclaimed' && link.claim.marker === claim.marker;
  if (link.life !== 'unclaimed' && !theirs) return undefined;
  if (link.life !== 'made') {
    return defect
      ? { ...known(link), life: 'made', claim, defect }
      : { ...known(link), life: 'claimed', claim: theirs ? link.claim : claim };
  }
  // The defect was already moved, and the old issue's link began an update after that.
  return defect?.updating ? beginUpdate(link, defect.updating.by, defect.updating.fields) : link;
}

export function leave<S>(link: Link<S>, to: string): Link<S> | undefined {
  return link.life === 'moved' ? undefined : { ...link, life: 'moved', to };
}

/** A person says which defect the issue has. The defect's fields are unknown. */
export function setDefect<S>(link: Link<S>, claim: Claim, id: string | number): Link<S> {
  return { ...known(link), life: 'made', claim, defect: { id, updates: 0 } };
}

/** A person says that the issue has no defect. */
export function clear<S>(link: Link<S>): Link<S> {
  return { ...known(link), life: 'unclaimed' };
}

/** The fields that a link has in every state. */
function known<S>({ newest, turn }: Link<S>): Pick<Link<S>, 'newest' | 'turn'> {
  return { ...(newest && { newest }), ...(turn !== undefined && { turn }) };
}
