import { createHash } from 'node:crypto';

/** A fingerprint of a value's JSON: 20 hex digits, the same for equal values with their keys in the same order. */
export function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 20);
}

/** The fingerprint of each field that has a value. */
export function digestFields(fields: object): Record<string, string> {
  const set = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set.map(([field, value]) => [field, digest(value)]));
}

/** JSON with the keys of every object sorted: the same for equal values, also after the table has reordered them. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(inOrder(value));
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, part]) => [name, inOrder(part)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
