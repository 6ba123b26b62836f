import { expiry } from '../state/table/expiry.ts';
import { isNewer } from '../state/table/form.ts';
import type { Item } from '../state/table/table.ts';
import { count, type Link, lifeShape, newestShape } from './link-shape.ts';

/** More than any difference between clocks. No time in a link is further in the future. */
const AHEAD_MS = 60 * 60_000;

const TIMES = [
  ['cleared', 'at'],
  ['defect', 'updatedAt'],
  ['defect', 'updating', 'until'],
  ['defect', 'doubtful', 'until'],
];

/** Lists the times of an item that are too far in the future. */
function inFuture(item: unknown, now: number): string[] {
  const valueAt = (path: string[]) => path.reduce((at: unknown, key) => Object(at)[key], item);
  return TIMES.filter((path) => Number(valueAt(path)) > now + AHEAD_MS).map(inWords);
}

const inWords = (path: PropertyKey[]) => path.slice(0, 2).join('.');

/**
 * Reads any item. Reads the newest state of the issue separately, so that it stays known if a person decides about an
 * unreadable link.
 *
 * @param now epoch milliseconds
 */
export function fromItem({ pk, sk, expiresAt, newest: stored, ...item }: Item, now: number): Link {
  const newest = stored === undefined ? undefined : newestShape.safeParse(inflated(stored));
  // A version in the future would make the link ignore every later state.
  const isNewest = newest?.success === true && Date.parse(newest.data.version) <= now + AHEAD_MS;
  const known = isNewest ? { newest: newest.data } : {};
  const life = lifeShape.safeParse(item);
  const wrong = [
    ...(life.error?.issues ?? []).map(({ path }) => inWords(path)),
    ...inFuture(life.success ? life.data : item, now),
  ];
  if (newest && !isNewest) wrong.push('newest');
  if (isNewer(item)) wrong.push('form');
  if (life.success && wrong.length === 0) return { ...life.data, ...known };
  const turn = count.safeParse(item.turn);
  return { life: 'unreadable', wrong: [...new Set(wrong)], item, ...known, ...(turn.success && { turn: turn.data }) };
}

/**
 * True if a link expires 30 days after its last write. Three kinds of links do not expire: a link with a claim or a
 * defect; a link whose issue should have a defect, because its job may be parked; and a link that a person cleared,
 * because the next defect needs another marker.
 */
export function expires({ life, newest, cleared }: Link): boolean {
  return life === 'unclaimed' && !newest?.wanted && !cleared;
}

/** @param now epoch milliseconds */
export function toItem(link: Link, now: number): Omit<Item, 'pk' | 'sk'> {
  const { newest, ...rest } =
    link.life === 'unreadable' ? { ...link.item, newest: link.newest, turn: link.turn } : link;
  return {
    ...rest,
    ...(newest && { newest: { ...newest, state: deflate(newest.state) } }),
    ...(expires(link) && { expiresAt: expiry(now) }),
  };
}

/** Loads zlib on first use, because few cold starts need it. */
const zlib = () => process.getBuiltinModule('node:zlib');

/**
 * Compresses a state. It contains the text of an issue, and DynamoDB charges each write of a link by the size of the
 * whole item. Compression saves more than half.
 */
function deflate(state: unknown): Uint8Array {
  return zlib().deflateRawSync(JSON.stringify(state));
}

/** More than intake keeps of an issue. */
const LONGEST_STATE_BYTES = 4_000_000;

/** Returns the stored value with its state decompressed; undefined if {@link deflate} did not write it. */
function inflated(stored: unknown): unknown {
  const { state } = Object(stored) as { state?: unknown };
  if (!(state instanceof Uint8Array)) return undefined;
  try {
    const text = zlib().inflateRawSync(state, { maxOutputLength: LONGEST_STATE_BYTES }).toString();
    return { ...Object(stored), state: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
