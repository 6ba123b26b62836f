import { FORM } from './form.ts';

/**
 * The oldest version whose items this version reads. A version reads all items of its major, and of the last minor of
 * the major before, so raise this with each major. In 0.x, a minor counts as a major. test/state/items/ has the items
 * since then.
 */
export const READS_SINCE = '0.1.0';

/** The version that last ran on a stage or in a folder. */
export interface Wrote {
  version: string;
  /** The form of the items that it writes. */
  form: number;
}

/**
 * Says why a version cannot continue with the data of another one, and what to do. Returns undefined if it can.
 *
 * @param wrote undefined if the other version recorded nothing
 */
export function versionFault(
  wrote: Wrote | undefined,
  mine: string,
  { since, form } = { since: READS_SINCE, form: FORM },
): string | undefined {
  if (wrote && isBefore(wrote.version, since))
    return `${wrote.version} ran here, and ${mine} can only read data of ${since} and newer: upgrade to ${since} first, with npm install partner-relay@${since}`;
  if (wrote && wrote.form > form)
    return `${wrote.version} ran here, and ${mine} cannot read its data: upgrade to ${wrote.version} again, with npm install partner-relay@${wrote.version}`;
  return undefined;
}

function isBefore(one: string, other: string): boolean {
  const [its, others] = [numbersOf(one), numbersOf(other)];
  const differs = its.findIndex((number, index) => number !== others[index]);
  return Number(its[differs]) < Number(others[differs]);
}

/** Returns the numbers of `1.2.3` or `1.2.3-beta.1`. */
const numbersOf = (version: string) => version.split(/[.-]/, 3).map(Number);
