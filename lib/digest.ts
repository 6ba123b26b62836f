import { createHash } from 'node:crypto';

/**
 * Returns a fingerprint of a value's JSON: 20 hex digits. Equal values with their keys in the same order have the same.
 */
export function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 20);
}

/** Returns the fingerprint of each field that has a value. */
export function digestFields(fields: object): Record<string, string> {
  const set = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set.map(([field, value]) => [field, digest(value)]));
}

/**
 * Returns JSON with the keys of every object sorted. Equal values have the same, even if the table has reordered their
 * keys.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(inOrder(value));
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, part]) => [name, inOrder(part)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
