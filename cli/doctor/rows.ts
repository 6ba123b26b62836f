import { CannotTell } from '../../lib/checks/check.ts';
import { markerIn } from '../../lib/engine/record/markers.ts';
import type { Operation } from '../../lib/service/partner/operation.ts';

export type ServiceRow = Readonly<Record<string, unknown>>;

/** The field of a list's rows that has their id: `user_id` for `users/list`. */
export const idField = ({ name }: Operation) => `${name.replace(/s?\/.*/, '')}_id`;

/** The values of all fields that are texts. */
export const textsIn = (rows: readonly ServiceRow[]) =>
  rows.flatMap((row) => Object.values(row).filter((value) => typeof value === 'string'));

/** Checks that ids are unique, and that the service returns texts unchanged. */
export function compareRows(operation: Operation, rows: readonly ServiceRow[]): void {
  const field = idField(operation);
  const ids = rows.map((row) => row[field]).filter((id) => id !== undefined && id !== null);
  const unsafe = ids.filter((id) => typeof id === 'number' && !Number.isSafeInteger(id));
  if (unsafe.length > 0)
    throw new Error(`${unsafe.length} of ${ids.length} ${field} are not whole numbers below 2^53, so they are rounded`);
  const different = new Set(ids.map(String)).size;
  if (different < ids.length) throw new Error(`${ids.length} rows have ${different} different ${field}`);
  const texts = textsIn(rows);
  compareMarkers(texts);
  for (const [sign, what] of SIGNS) {
    const odd = texts.filter((text) => sign.test(text)).length;
    if (odd > 0) throw new CannotTell(`${odd} texts have ${what}, so they may not be what people type`);
  }
  const names = [...new Set(rows.flatMap(Object.keys))];
  const cut = names.filter((name) => isCut(rows.map((row) => row[name])));
  if (cut.length > 0) throw new CannotTell(`${cut.join(', ')} seems to be cut: the longest have the same length`);
}

/** Signs that the service changed a text. */
const SIGNS: readonly [RegExp, string][] = [
  [/\uFFFD|Ã[\u0080-\u00BF]|â\u0080/, 'characters of another encoding'],
  [/&(?:amp|lt|gt|quot|#0?39|#x27);/, 'HTML references'],
];

/** A part of a marker, also escaped or with a line break in it. */
const PART = /(?:\[|&#0*91;|&#x5b;|&lbrack;|%5B)\s*partner-\s*relay|partner-relay\s[0-9a-f]{20}/i;

function compareMarkers(texts: readonly string[]): void {
  const broken = texts.filter((text) => PART.test(text) && !markerIn(text)).length;
  if (broken > 0)
    throw new Error(
      `${broken} texts have a marker of the relay that is cut, escaped or wrapped, so what it created is not found again`,
    );
}

/** Usual limits at which databases and programs cut texts. */
const CUT_AT = new Set([
  ...[50, 64, 100, 128, 140, 150, 160, 191, 200, 250, 255, 256, 300, 400, 500, 512],
  ...[1_000, 1_024, 2_000, 2_048, 4_000, 4_096, 5_000, 8_000, 10_000, 16_384, 65_535],
]);

function isCut(values: readonly unknown[]): boolean {
  const texts = [...new Set(values.filter((value) => typeof value === 'string'))];
  const longest = Math.max(...texts.map(({ length }) => length));
  const all = texts.filter(({ length }) => length === longest);
  // Ids and dates also have the same length, but no spaces.
  return (
    all.length > 1 &&
    all.some((text) => text.includes(' ')) &&
    (CUT_AT.has(longest) || all.every((text) => /(?:…|\.\.\.)$/.test(text)))
  );
}
