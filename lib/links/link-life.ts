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

/** The issue was transferred. Its claim and defect are from before the transfer. */
export interface Moved extends Partial<Holding> {
  life: 'moved';
  to: IssueName;
  /** The version of the issue when it was transferred. An earlier transfer that arrives later changes nothing. */
  at: string;
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
  /** Missing if there are none. */
  arrived?: readonly Arrived[];
  /** How often a person cleared the link, so that the next defect has another marker, and when last. */
  cleared?: { times: number; at: number };
  /**
   * Counts the writes of the link, so that each write is conditional on what was read. Missing before the first write.
   */
  turn?: number;
};

/**
 * An issue that was transferred here, at once or by way of others, with a claim or a defect that did not move: this issue
 * had its own, or is on another connection. A job decides between those on its connection. The others wait here for
 * where the issue goes next.
 */
export interface Arrived {
  /** The link of that issue. */
  from: string;
  /** The job that is parked because both issues have a defect. */
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
  /**
   * By the entity of a transferred issue: its count of updates when the defect moved here. A worker may stop before the
   * old link says so, and the old issue is then still followed.
   */
  movedAt?: Readonly<Record<string, number>>;
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
  if (link.life === 'unclaimed' || link.life === 'unreadable') return {};
  const { claim } = link;
  const defect = link.life === 'claimed' ? undefined : link.defect;
  return { ...(claim && { claim }), ...(defect && { defect }) };
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
}

/** A link that can be read. */
export type Readable<S> = Exclude<Link<S>, UnreadableLink>;

/** The link of an issue that was not transferred away. */
type Here<S> = Exclude<Readable<S>, Moved>;

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

/** Settles a tie with GitHub's current state, or without it if GitHub cannot be asked. */
export function settleTie<State>(
  link: Link<State>,
  tied: NewestState<State>,
  read: ReportedState<State> | undefined,
): Link<State> | undefined {
  if (link.newest?.revision !== tied.revision) return undefined;
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
 * Records the defect of a job's claim, also of a claim that a transfer left behind.
 * @param finder the job that found the defect, if another job created it
 */
export function make<S>(
  link: Link<S>,
  by: string,
  { id, applied }: Pick<Defect, 'id' | 'applied'>,
  finder = by,
): Link<S> | undefined {
  const defect: Defect = { id, applied, updates: 0 };
  if (link.life === 'claimed' && link.claim.by === by) {
    const { connection, marker } = link.claim;
    return { ...link, life: 'made', claim: { by: finder, connection, marker }, defect };
  }
  return link.life === 'moved' && link.claim?.by === by && !link.defect ? { ...link, defect } : undefined;
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

/** A transfer, as the link of the new issue sees it. */
interface Transfer {
  from: string;
  /** The link that `arrive` is about. */
  to: string;
  /** False if the claim or defect stays behind, because the new issue is on another connection. */
  moves: boolean;
}

/**
 * Records that an issue was transferred here: its claim or defect moves, unless this issue has its own. What had arrived
 * at the old issue moves with it.
 */
export function arrive<S>(to: Link<S>, old: Link<S>, transfer: Transfer): Link<S> | undefined {
  if (to.life === 'unreadable' || (to.life === 'moved' && to.to.entity !== transfer.from)) return undefined;
  const link = to.life === 'moved' ? comeBack(to, old, transfer) : to;
  const { claim } = heldBy(old);
  const { from, moves } = transfer;
  if (!claim) return withArrived(link, old.arrived);
  if (!moves || (link.life !== 'unclaimed' && link.claim.marker !== claim.marker))
    return withArrived(link, [...(old.arrived ?? []), { from }]);
  return withArrived(catchUp(link, old, from), old.arrived);
}

/** The claim or defect of the old issue moves here, or has already done so before the old link changed. */
function catchUp<S>(link: Here<S>, old: Link<S>, from: string): Link<S> {
  const { claim, defect } = heldBy(old);
  if (link.life === 'unclaimed') return take(link, old, from);
  if (!claim || !defect) return link;
  if (link.life === 'claimed') return { ...link, life: 'made', claim, defect: moved(defect, from) };
  if (defect.updates <= (link.defect.movedAt?.[from] ?? 0)) return link;
  return { ...link, defect: moved(afterUpdatesBy(defect, link.defect), from, defect.updates) };
}

const moved = (defect: Defect, from: string, updates = defect.updates): Defect => ({
  ...defect,
  movedAt: { ...defect.movedAt, [from]: updates },
});

/** The old issue was followed for a while after its defect had moved here. What was sent for it is applied no longer. */
function afterUpdatesBy(old: Defect, defect: Defect): Defect {
  const isSame = (field: string) => old.applied[field] === defect.applied[field];
  const applied = Object.entries(defect.applied).filter(
    ([field]) => isSame(field) && !old.updating?.fields.includes(field),
  );
  const updates = Math.max(old.updates, defect.updates) + 1;
  return { ...inDoubt(defect, old.updating, old.doubtful), applied: Object.fromEntries(applied), updates };
}

/** An issue that is transferred back continues where it was. What went along comes back, unless it stayed here. */
function comeBack<S>(link: Link<S> & Moved, old: Link<S>, { to }: Transfer): Here<S> {
  const { claim, defect } = link;
  const there = heldBy(old).claim;
  const hasArrived = old.arrived?.some(({ from }) => from === to);
  const stayed = claim && hasArrived && there?.marker !== claim.marker;
  if (!stayed) return { ...known(link), life: 'unclaimed' };
  return { ...known(link), ...(defect ? { life: 'made', claim, defect } : { life: 'claimed', claim }) };
}

function take<S>(link: Link<S>, old: Link<S>, from: string): Here<S> {
  const { claim, defect } = heldBy(old);
  const rest = { ...known(link), ...(link.arrived && { arrived: link.arrived }) };
  if (!claim) return { ...rest, life: 'unclaimed' };
  return defect ? { ...rest, life: 'made', claim, defect: moved(defect, from) } : { ...rest, life: 'claimed', claim };
}

function withArrived<S>(link: Link<S>, more: readonly Arrived[] = []): Link<S> {
  const all = new Map(link.arrived?.map((one) => [one.from, one]));
  for (const one of more) all.set(one.from, { ...all.get(one.from), ...one });
  const arrived = [...all.values()];
  return isDeepStrictEqual(arrived, link.arrived ?? []) ? link : { ...link, arrived };
}

/** This issue's own claim came to nothing, so the claim or defect that arrived takes its place. */
export function adopt<S>(link: Link<S>, from: string, old: Link<S>): Link<S> | undefined {
  return link.life === 'unclaimed' || link.life === 'claimed' ? dismiss(take(link, old, from), from) : undefined;
}

/** What arrived came to nothing, or is this issue's own. */
export function dismiss<S>({ arrived = [], ...link }: Link<S>, from: string): Link<S> {
  const others = arrived.filter((one) => one.from !== from);
  return { ...link, ...(others.length > 0 && { arrived: others }) };
}

/** A job is parked, and tells a person that this issue and others have a defect each. */
export function tell<S>(link: Link<S>, named: readonly Arrived[], toldBy: string): Link<S> | undefined {
  const isNamed = (from: string) => named.some((one) => one.from === from);
  return (
    link.arrived && { ...link, arrived: link.arrived.map((one) => (isNamed(one.from) ? { ...one, toldBy } : one)) }
  );
}

/** @param at the version of the issue */
export function leave<S>(link: Link<S>, to: IssueName, at: string): Link<S> | undefined {
  return link.life === 'moved' || link.life === 'unreadable' ? undefined : { ...link, life: 'moved', to, at };
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
