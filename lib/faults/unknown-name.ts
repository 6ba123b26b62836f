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

/** `did you mean 'main'?`, `there is only main`, or `there are main, other`. */
export function meantName(given: string, known: readonly string[]): string {
  const meant = nearMiss(given, known);
  if (meant !== undefined) return `did you mean '${meant}'?`;
  if (known.length === 0) return 'there are none';
  return known.length === 1 ? `there is only ${known[0]}` : `there are ${known.join(', ')}`;
}
