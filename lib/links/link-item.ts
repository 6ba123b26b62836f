import { expiry } from '../table/expiry.ts';
import type { Item } from '../table/table.ts';
import type { Applied, Claim, Defect, Life, Link, Newest } from './link-life.ts';

/** A link as stored in the table. */
interface LinkItem<State> {
  /** Deflated JSON. Earlier versions stored the state itself. */
  state?: Uint8Array | State;
  name?: string;
  version?: string;
  wanted?: boolean;
  revision?: number;
  tied?: boolean;
  claimedBy?: string;
  connection?: string;
  marker?: string;
  defectId?: string | number;
  applied?: Applied | string;
  updates?: number;
  updatedAt?: number;
  updating?: { by: string; fields: string[] };
  movedTo?: string;
  turn?: number;
}

/** Reads a link, including links of versions that stored fewer attributes. */
export function fromItem<State>(item: Item): Link<State> {
  const { turn, ...kept } = item as LinkItem<State>;
  const newest = newestOf(kept);
  return { ...lifeOf(kept), ...(newest && { newest }), ...(turn !== undefined && { turn }) };
}

/**
 * True if a link expires 30 days after its last write. A link that holds a claim or a defect does not expire, nor does
 * one whose issue should have a defect, because its job may be parked.
 */
export function expires({ life, newest }: Link): boolean {
  return life === 'unclaimed' && !newest?.wanted;
}

/** @param now epoch milliseconds */
export function toItem(link: Link, now: number): Item {
  const { newest, life, turn } = link;
  const { claim, defect } = heldBy(link);
  return {
    ...newest,
    ...(newest && { state: deflate(newest.state), tied: newest.tied || undefined }),
    ...(claim && { claimedBy: claim.by, connection: claim.connection, marker: claim.marker }),
    ...(defect && defectItem(defect)),
    ...(life === 'moved' && { movedTo: link.to }),
    ...(expires(link) && { expiresAt: expiry(now) }),
    turn,
  };
}

function defectItem({ id: defectId, ...rest }: Defect): Item {
  return { defectId, ...rest };
}

/** The claim of a link, and the defect that was created for it. */
export function heldBy(link: Link): { claim?: Claim; defect?: Defect } {
  if (link.life === 'unclaimed') return {};
  const { claim } = link;
  const defect = link.life === 'claimed' ? undefined : link.defect;
  return { ...(claim && { claim }), ...(defect && { defect }) };
}

function lifeOf({ movedTo, ...item }: LinkItem<unknown>): Life {
  const { claimedBy: by, connection, marker, defectId: id } = item;
  const claim = by !== undefined && connection !== undefined && marker !== undefined && { by, connection, marker };
  const { applied, updates = 0, updatedAt, updating } = item;
  const defect = claim &&
    id !== undefined && {
      id,
      updates,
      ...(applied && { applied }),
      ...(updatedAt && { updatedAt }),
      ...(updating && { updating }),
    };
  if (movedTo !== undefined) {
    return { life: 'moved', to: movedTo, ...(claim && { claim }), ...(defect && { defect }) };
  }
  if (!claim) return { life: 'unclaimed' };
  return defect ? { life: 'made', claim, defect } : { life: 'claimed', claim };
}

function newestOf<State>(item: LinkItem<State>): Newest<State> | undefined {
  const { version, wanted = false, revision = 0, tied = false } = item;
  if (item.state === undefined || version === undefined) return undefined;
  const state = item.state instanceof Uint8Array ? inflate<State>(item.state) : item.state;
  // Versions before this attribute kept the name in the state.
  const name = item.name ?? String((state as { name?: unknown }).name);
  return { state, name, version, wanted, revision, tied };
}

/** Loaded on first use, because few cold starts need it. */
const zlib = () => process.getBuiltinModule('node:zlib');

/**
 * A state holds the text of an issue, and DynamoDB charges each write of a link by the size of the whole item.
 * Deflating text saves more than half.
 */
function deflate(state: unknown): Uint8Array {
  return zlib().deflateRawSync(JSON.stringify(state));
}

function inflate<State>(bytes: Uint8Array): State {
  return JSON.parse(zlib().inflateRawSync(bytes).toString());
}
