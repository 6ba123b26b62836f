import { isRecord } from '../../outside.ts';
import { parsedJson } from '../../text.ts';
import type { ToolResult } from './tool.ts';

/** A thing that a tool lists. */
export interface ListedRow {
  id: string | number;
  /** Its name, or the text that it has. */
  text: string;
}

/** What a result holds as data: its structured content, or its first text if that is JSON. */
function dataOf({ structured, texts }: ToolResult): unknown {
  return structured ?? parsedJson(texts[0] ?? '');
}

/** @param path names joined by dots */
export function valueAt(data: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, name) => (isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined), data);
}

/** The id of what a tool made, or undefined if the result does not have it at that path. */
export function idAt(result: ToolResult, path: string): string | number | undefined {
  const id = valueAt(dataOf(result), path);
  return isId(id) ? id : undefined;
}

const MOST_CHARACTERS = 255;

/**
 * JSON can contain numbers that JavaScript cannot hold, and texts that the table cannot hold. A changed id is worse
 * than none.
 */
const isId = (id: unknown): id is string | number =>
  (typeof id === 'string' && id.length <= MOST_CHARACTERS) ||
  (typeof id === 'number' && Math.abs(id) <= Number.MAX_SAFE_INTEGER);

/** The list at a path of a result, or undefined if there is none. */
export function recordsAt(result: ToolResult, path: string): unknown[] | undefined {
  const rows = valueAt(dataOf(result), path);
  return Array.isArray(rows) ? rows : undefined;
}

/** The rows of a listing, or undefined where the result has no list at that path. Rows without an id are left out. */
export function readRows(result: ToolResult, at: { rows: string; id: string; text: string }): ListedRow[] | undefined {
  return recordsAt(result, at.rows)?.flatMap((row) => {
    const id = valueAt(row, at.id);
    if (!isId(id)) return [];
    const text = valueAt(row, at.text);
    return [{ id, text: typeof text === 'string' ? text : String(id) }];
  });
}
