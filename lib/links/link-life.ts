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
 * A job claims a link before it creates a defect, and ends in one of three ways: it created the defect; the issue no
 * longer wants one, and it gives up the claim; or it is parked with its claim, which another job may take over if
 * nothing was sent.
 */
type Life =
  | { life: 'unclaimed' }
  /** A job is creating the defect. */
  | { life: 'claimed'; claim: Claim }
  | { life: 'made'; claim: Claim; defect: Defect }
  | Moved
  | UnreadableLink;

/** The issue was transferred, and everything that its link had moved with it. */
interface Moved {
  life: 'moved';
  to: IssueName;
}

/** What is stored is not as the relay writes it. Its newest state is kept up to date; all else waits for a person. */
interface UnreadableLink {
  life: 'unreadable';
  /** The attributes with values that the relay never writes. */
  wrong: readonly string[];
  item: Readonly<Record<string, unknown>>;
}

/** An issue's link and its name, `owner/name#number`. */
export interface IssueName {
  entity: string;
  name: string;
}

/** What a link has besides the state of its issue. */
export interface Holding {
  claim: Claim;
  defect: Defect;
}

export type Link<State = unknown> = Life & {
  newest?: NewestState<State>;
  arrived?: Arrived;
  /** How often a person cleared the link, so that the next defect has another marker, and when last. */
  cleared?: { times: number; at: number };
  /**
   * Counts the writes of the link, so that each write is conditional on what was read. Missing before the first write.
   */
  turn?: number;
};

/** An issue that was transferred here and could not move: this issue has a claim or a defect, or was transferred to it. */
export interface Arrived {
  /** The link of that issue. */
  from: string;
  /** The job that is parked, so that a person decides. */
  toldBy?: string;
}

export interface Claim {
  /** Id of the job that is creating or has created the defect. */
  by: string;
  /** The connection of the defect. */
  connection: string;
  /** The text that identifies the defect and the comment in a search. It cannot be guessed. */
  marker: string;
  /**
   * Set if an earlier holder may have created a defect with this marker: what it sent of each field, as far as known.
   * The service is searched before anything is created under the claim, so the claim is not given up either.
   */
  inherited?: Applied;
}

export interface Defect {
  id: string | number;
  /** The values that the relay applied last. The value of a field that is missing is unknown. */
  applied: Applied;
  /** How many updates have begun, except those that were refused. */
  updates: number;
  /** When the last update was applied; epoch milliseconds. */
  updatedAt?: number;
  /** The update that began last, until its answer. Until then, each of its fields may have the old or the new value. */
  updating?: Update;
  /** What an earlier update without an answer may still change. Once that is over, these fields are applied once more. */
  doubtful?: Doubt;
}

interface Doubt {
  fields: string[];
  /** Until then, the service may carry out what was sent. Epoch milliseconds. */
  until: number;
}

interface Update extends Doubt {
  /** The run of the job that sends it. */
  by: string;
}

/** The claim of a link, and the defect that was created for it. */
export function heldBy(link: Link): Partial<Holding> {
  if (link.life === 'made') return { claim: link.claim, defect: link.defect };
  return link.life === 'claimed' ? { claim: link.claim } : {};
}

/** A digest of each field. */
export type Applied = Readonly<Record<string, string>>;

/** The newest state of the issue. */
export interface NewestState<State = unknown> {
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
  /** The same, and GitHub no longer has the issue, which was deleted or transferred: then neither changes anything. */
  isGone?: true;
}

/** A link that can be read. */
export type Readable<S> = Exclude<Link<S>, UnreadableLink>;

/** A state as an event reports it. */
export type ReportedState<State> = Pick<NewestState<State>, 'state' | 'name' | 'version' | 'wanted'>;

const nextTurn = (link: Link) => (link.turn ?? 0) + 1;

/**
 * Stores a state unless a newer one is known. If two states have the same version, the one that wants a defect wins
 * until it is known which is newer, so that no order of deliveries ends without a defect. Otherwise the one that
 * arrived later wins.
 */
export function keep<State>(link: Link<State>, reported: ReportedState<State>): Link<State> | undefined {
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
export function settleTie<State>(
  link: Link<State>,
  tied: NewestState<State>,
  read: ReportedState<State> | 'gone' | undefined,
): Link<State> | undefined {
  if (link.newest?.revision !== tied.revision) return undefined;
  if (read === 'gone') return { ...link, newest: { ...tied, tied: false, isGone: true } };
  // An answer that is older than a state that GitHub already sent comes from a lagging replica.
  const newer = read && read.version >= tied.version ? read : tied;
  return { ...link, newest: { ...tied, ...newer, tied: false } };
}

/** If the job already holds the claim, this starts a new turn, so that other runs of the job can no longer write. */
export function claim<S>(link: Link<S>, claim: Claim): Link<S> | undefined {
  if (link.life === 'unclaimed') return { ...link, life: 'claimed', claim };
  return link.life === 'claimed' && link.claim.by === claim.by ? { ...link } : undefined;
}

export function giveUp<S>(link: Link<S>, by: string): Link<S> | undefined {
  if (link.life !== 'claimed' || link.claim.by !== by || link.claim.inherited) return undefined;
  const { claim, ...rest } = link;
  return { ...rest, life: 'unclaimed' };
}

/** Takes the claim from a job that does not use it any more. The marker stays. */
export function takeOver<S>(link: Link<S>, from: string, to: Omit<Claim, 'marker'>): Link<S> | undefined {
  if (link.life !== 'claimed' || link.claim.by !== from) return undefined;
  return { ...link, claim: { ...link.claim, ...to } };
}

/**
 * Records the defect of a job's claim.
 * @param finder the job that found the defect, if another job created it
 */
export function make<S>(
  link: Link<S>,
  by: string,
  { id, applied }: Pick<Defect, 'id' | 'applied'>,
  finder = by,
): Link<S> | undefined {
  if (link.life !== 'claimed' || link.claim.by !== by) return undefined;
  const { connection, marker } = link.claim;
  return { ...link, life: 'made', claim: { by: finder, connection, marker }, defect: { id, applied, updates: 0 } };
}

/**
 * Written before an update is sent. If the last one has no answer, its fields become doubtful.
 * @param seen the count of updates when this one was made. If another one has begun since, this one must not be sent.
 */
export function beginUpdate<S>(link: Link<S>, update: Update, seen: number): Link<S> | undefined {
  if (link.life !== 'made' || link.defect.updates !== seen) return undefined;
  return { ...link, defect: { ...inDoubt(link.defect), updates: seen + 1, updating: update } };
}

/** Nothing of the update was carried out. */
export function refuseUpdate<S>(link: Link<S>, by: string): Link<S> | undefined {
  if (link.life !== 'made' || link.defect.updating?.by !== by) return undefined;
  const { updating, ...defect } = link.defect;
  return { ...link, defect: { ...defect, updates: defect.updates - 1 } };
}

/**
 * If another update has begun since, the values stay unknown.
 * @param times when it began and when it was answered; epoch milliseconds
 */
export function finishUpdate<S>(
  link: Link<S>,
  by: string,
  applied: Applied,
  { begunAt, updatedAt }: { begunAt: number; updatedAt: number },
): Link<S> | undefined {
  if (link.life !== 'made' || link.defect.updating?.by !== by) return undefined;
  const { updating, doubtful, ...defect } = link.defect;
  const stays = doubtful && begunAt < doubtful.until;
  return { ...link, defect: { ...defect, applied, updatedAt, ...(stays && { doubtful }) } };
}

/** For when nothing is left to send, including an update of fields for which the issue no longer has a value. */
export function noteApplied<S>(link: Link<S>, applied: Applied): Link<S> | undefined {
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
export function arrive<S>(link: Link<S>, old: Link<S>, from: string): Link<S> | undefined {
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
function withUnknown<S>(link: Link<S> & { life: 'made' }, old: Defect): Link<S> {
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
export function dismiss<S>({ arrived, ...link }: Link<S>): Link<S> {
  return link;
}

/** A job is parked, and tells a person of what has arrived. */
export function tell<S>(link: Link<S>, toldBy: string): Link<S> | undefined {
  return link.arrived && { ...link, arrived: { ...link.arrived, toldBy } };
}

/** The issue was transferred. What it had must have arrived there. */
export function leave<S>(link: Link<S>, to: IssueName): Link<S> | undefined {
  if (link.life === 'moved' || link.life === 'unreadable') return undefined;
  return { ...known(link), ...(link.arrived && { arrived: link.arrived }), life: 'moved', to };
}

/** A person says which defect the issue has. The defect's fields are unknown. */
export function setDefect<S>(link: Link<S>, claim: Claim, id: string | number): Link<S> {
  return { ...known(link), life: 'made', claim, defect: { id, applied: {}, updates: 0 } };
}

/**
 * The service has the defect of an issue that the table knows nothing of. The defect's fields are unknown.
 * @param cleared how often the link had been cleared when the defect was made
 */
export function restore<S>(
  link: Link<S>,
  claim: Claim,
  id: string | number,
  cleared: { times: number; at: number },
): Link<S> | undefined {
  const known = link.cleared?.times ?? 0;
  if (link.life !== 'unclaimed' || cleared.times < known) return undefined;
  const defect = { id, applied: {}, updates: 0 };
  return { ...link, life: 'made', claim, defect, ...(cleared.times > known && { cleared }) };
}

/** A person says that the issue has no defect. @param at epoch milliseconds */
export function clear<S>(link: Link<S>, at: number): Link<S> {
  // How often it was cleared before may be what cannot be read.
  const times = link.life === 'unreadable' ? at : (link.cleared?.times ?? 0) + 1;
  return { ...known(link), life: 'unclaimed', cleared: { times, at } };
}

/** The fields that a link has in every state, unless a person has decided what belongs to it. */
function known<S>({ newest, cleared, turn }: Link<S>): Pick<Link<S>, 'newest' | 'cleared' | 'turn'> {
  return { ...(newest && { newest }), ...(cleared && { cleared }), ...(turn !== undefined && { turn }) };
}
