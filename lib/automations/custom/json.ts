import { shownName } from '../../faults/refused-fields.ts';

/** A part of a value that is not JSON, or that the table would change. */
export interface Foreign {
  /** Such as `input.at`. */
  field: string;
  /** Such as `Date` or `number beyond 2^53`. */
  is: string;
  /** True if the part is valid JSON, so it may come from the event. */
  isJson: boolean;
}

/** The table allows 32 levels, including those of the record that holds the value. */
const MOST_LEVELS = 20;
/** The table refuses numbers closer to zero. */
const SMALLEST = 1e-130;

/**
 * Finds the first part that cannot be stored.
 * @param field the path of the value, for people
 */
export function foreignIn(value: unknown, field: string, levels = MOST_LEVELS): Foreign | undefined {
  const other = notJson(value);
  const is = other ?? notHeld(value, levels);
  if (is !== undefined) return { field, is, isJson: other === undefined };
  if (typeof value !== 'object' || value === null) return undefined;
  // Copying a list turns its gaps into undefined.
  for (const [name, part] of Object.entries(Array.isArray(value) ? [...value] : value)) {
    const found = foreignIn(part, `${field}.${shownName(name)}`, levels - 1);
    if (found) return found;
  }
  return undefined;
}

/** Returns the kind of a value that is not JSON, ignoring its parts; undefined for JSON. */
function notJson(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isNaN(value) ? 'NaN' : undefined;
  if (typeof value !== 'object')
    return ['undefined', 'boolean', 'string'].includes(typeof value) ? undefined : typeof value;
  // The table drops undefined, so the rows after it would move up.
  if (Array.isArray(value)) return value.includes(undefined) ? 'list with undefined' : undefined;
  const maker = value && Object.getPrototypeOf(value)?.constructor;
  return maker && maker !== Object ? String(maker.name) : undefined;
}

/** Returns the kind of a JSON value that the table cannot hold, ignoring its parts. */
function notHeld(value: unknown, levels: number): string | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : 'text that is cut within a character';
  if (typeof value === 'number') {
    // 1e999 is valid JSON.
    if (!Number.isFinite(value)) return String(value);
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return 'number beyond 2^53';
    return value !== 0 && Math.abs(value) < SMALLEST ? 'number below 1e-130' : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (levels === 0) return `value of more than ${MOST_LEVELS} levels`;
  if (!Object.keys(value).every((name) => name.isWellFormed())) return 'record with a name cut within a character';
  // The SDK drops one of these names, and mistakes a record with another for an instance of a class.
  const lost = ['', '__proto__', 'constructor'].find((name) => Object.hasOwn(value, name));
  return lost === undefined ? undefined : `record with the name '${lost}'`;
}
