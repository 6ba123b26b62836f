import { expiry } from '../state/table/expiry.ts';
import { isNewer } from '../state/table/form.ts';
import type { Item } from '../state/table/table.ts';
import { count, type Link, lifeShape, newestShape } from './link-shape.ts';

/** Clocks differ by less, and nothing in a link is about a later time. */
const AHEAD_MS = 60 * 60_000;

const TIMES = [
  ['cleared', 'at'],
  ['defect', 'updatedAt'],
  ['defect', 'updating', 'until'],
  ['defect', 'doubtful', 'until'],
];

/** Which times of an item no clock can have written yet. */
function inFuture(item: unknown, now: number): string[] {
  const valueAt = (path: string[]) => path.reduce((at: unknown, key) => Object(at)[key], item);
  return TIMES.filter((path) => Number(valueAt(path)) > now + AHEAD_MS).map(inWords);
}

const inWords = (path: PropertyKey[]) => path.slice(0, 2).join('.');

/**
 * Reads any item. The newest state of the issue is read on its own, so that it is known after a person has decided about
 * a link that cannot be read.
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
 * True if a link expires 30 days after its last write. A link that holds a claim or a defect does not expire, nor does
 * one whose issue should have a defect, because its job may be parked, nor one that a person cleared, because the next
 * defect needs another marker.
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

/** Loaded on first use, because few cold starts need it. */
const zlib = () => process.getBuiltinModule('node:zlib');

/**
 * A state holds the text of an issue, and DynamoDB charges each write of a link by the size of the whole item.
 * Deflating text saves more than half.
 */
function deflate(state: unknown): Uint8Array {
  return zlib().deflateRawSync(JSON.stringify(state));
}

/** Intake keeps less of an issue. */
const LONGEST_STATE_BYTES = 4_000_000;

/** The stored value with its state inflated; undefined if {@link deflate} did not write it. */
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
