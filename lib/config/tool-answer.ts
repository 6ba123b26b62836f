import { isRecord, onOneLine } from '../outside.ts';
import { parsedJson } from '../text.ts';

/** A tool's answer. All of it is from outside. */
export interface ToolAnswer {
  /** The texts of the content, in order. */
  texts: readonly string[];
  /** The kinds of content other than text, such as `image` and `resource_link`. */
  otherKinds: readonly string[];
  structured: Readonly<Record<string, unknown>> | undefined;
}

/** An entry of a list that a tool returns. */
export interface ListedRow {
  id: string | number;
  /** Its name or text. */
  text: string;
}

/** Returns a result's data: its structured content, or its first text if that is JSON. */
function dataOf({ structured, texts }: ToolAnswer): unknown {
  return structured ?? parsedJson(texts[0] ?? '');
}

/** @param path names joined by dots */
export function valueAt(data: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, name) => (isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined), data);
}

/** Returns the id of the created object; undefined if the result has no id at that path. */
export function idAt(result: ToolAnswer, path: string): string | number | undefined {
  const id = valueAt(dataOf(result), path);
  return isId(id) ? id : undefined;
}

const MOST_CHARACTERS = 255;

/** Refuses numbers that JavaScript cannot hold, and texts too long for the table. A changed id is worse than none. */
const isId = (id: unknown): id is string | number =>
  (typeof id === 'string' && id.length <= MOST_CHARACTERS) ||
  (typeof id === 'number' && Math.abs(id) <= Number.MAX_SAFE_INTEGER);

/** Returns the list at a path of a result; undefined if there is none. */
export function recordsAt(result: ToolAnswer, path: string | undefined): unknown[] | undefined {
  const rows = path === undefined ? undefined : valueAt(dataOf(result), path);
  return Array.isArray(rows) ? rows : undefined;
}

/** The paths of a listing's rows, and of each row's id and text. */
interface Listed {
  rows?: string | undefined;
  id?: string | undefined;
  text?: string | undefined;
}

/** True if relay.config.ts has all three paths. */
export const isListing = <Use extends Listed>(use: Use): use is Use & Record<keyof Listed, string> =>
  use.rows !== undefined && use.id !== undefined && use.text !== undefined;

/** Returns a listing's rows, without rows that have no id. Undefined if the result has no list there. */
export function readRows(result: ToolAnswer, at: Listed): ListedRow[] | undefined {
  if (!isListing(at)) return undefined;
  return recordsAt(result, at.rows)?.flatMap((row) => {
    const id = valueAt(row, at.id);
    if (!isId(id)) return [];
    const text = valueAt(row, at.text);
    return [{ id, text: typeof text === 'string' ? text : String(id) }];
  });
}

const MOST_SAID = 500;

/** Returns a tool's answer as one short text. */
export function saidIn({ texts, otherKinds }: ToolAnswer): string {
  const said = onOneLine(texts.join(' ')).trim().replaceAll(/\s+/g, ' ');
  if (said === '') return otherKinds.length > 0 ? `(${otherKinds.join(', ')})` : '(nothing)';
  return said.length > MOST_SAID ? `${said.slice(0, MOST_SAID - 1)}…` : said;
}
