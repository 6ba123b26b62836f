import { shownName } from '../../faults/refused-fields.ts';

/** The part of a value that is no JSON, or that comes back from the table as something else. */
export interface Foreign {
  /** `input.at` */
  field: string;
  /** `Date`, `number beyond 2^53` */
  is: string;
  /** It may come from the event: JSON has such values. */
  isJson: boolean;
}

/** The table takes 32 levels, with those of the record around a value. */
const MOST_LEVELS = 20;
/** The table refuses a number that is nearer to zero. */
const SMALLEST = 1e-130;

/** @param field where the value is, for people */
export function foreignIn(value: unknown, field: string, levels = MOST_LEVELS): Foreign | undefined {
  const other = notJson(value);
  const is = other ?? notHeld(value, levels);
  if (is !== undefined) return { field, is, isJson: other === undefined };
  if (typeof value !== 'object' || value === null) return undefined;
  // A copy of a list has undefined in place of its gaps.
  for (const [name, part] of Object.entries(Array.isArray(value) ? [...value] : value)) {
    const found = foreignIn(part, `${field}.${shownName(name)}`, levels - 1);
    if (found) return found;
  }
  return undefined;
}

/** The kind of the value itself, without its parts; undefined for JSON. */
function notJson(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isNaN(value) ? 'NaN' : undefined;
  if (typeof value !== 'object')
    return ['undefined', 'boolean', 'string'].includes(typeof value) ? undefined : typeof value;
  // The table leaves undefined out, and the rows behind it would move up.
  if (Array.isArray(value)) return value.includes(undefined) ? 'list with undefined' : undefined;
  const maker = value && Object.getPrototypeOf(value)?.constructor;
  return maker && maker !== Object ? String(maker.name) : undefined;
}

/** The kind of a JSON value, without its parts, that the table does not hold. */
function notHeld(value: unknown, levels: number): string | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : 'text that is cut within a character';
  if (typeof value === 'number') {
    // JSON has 1e999.
    if (!Number.isFinite(value)) return String(value);
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return 'number beyond 2^53';
    return value !== 0 && Math.abs(value) < SMALLEST ? 'number below 1e-130' : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (levels === 0) return `value of more than ${MOST_LEVELS} levels`;
  if (!Object.keys(value).every((name) => name.isWellFormed())) return 'record with a name cut within a character';
  // The SDK loses one of them, and takes a record with another one for the object of a class.
  const lost = ['', '__proto__', 'constructor'].find((name) => Object.hasOwn(value, name));
  return lost === undefined ? undefined : `record with the name '${lost}'`;
}
