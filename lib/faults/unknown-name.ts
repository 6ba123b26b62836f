import { nearMiss } from '../near-miss.ts';

/**
 * What to say of a name that does not exist: `no connection 'mian'; did you mean 'main'?`, or the names that exist if
 * none of them is near.
 *
 * @param what the kind of thing, with `no`: `no connection`
 */
export function unknownName(what: string, given: string, known: readonly string[]): string {
  return `${what} '${given}'; ${meantName(given, known)}`;
}

/** `did you mean 'main'?`, or `there are main, other`. */
export function meantName(given: string, known: readonly string[]): string {
  const meant = nearMiss(given, known);
  if (meant !== undefined) return `did you mean '${meant}'?`;
  return known.length === 0 ? 'there are none' : `there are ${known.join(', ')}`;
}
