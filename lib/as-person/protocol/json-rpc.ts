import { isRecord } from '../../outside.ts';
import { parsedJson } from '../../text.ts';

type Id = string | number;

/** An answer in JSON-RPC 2.0. An error has no id if the other side could not read the message. */
export type Message =
  | { kind: 'result'; id: Id; result: unknown }
  | { kind: 'error'; id: Id | null; code: number; message: string; data: unknown }
  | { kind: 'request'; id: Id; method: string }
  | { kind: 'notification'; method: string };

/** @returns the messages of a body or event, which may be a batch (revision 2025-03-26); otherwise undefined */
export function readMessages(text: string): Message[] | undefined {
  const json = parsedJson(text);
  const messages = (Array.isArray(json) ? json : [json]).map(readMessage);
  return messages.every((message) => message !== undefined) ? messages : undefined;
}

function readMessage(value: unknown): Message | undefined {
  if (!isRecord(value)) return undefined;
  const { method, result, error } = value;
  const id = typeof value.id === 'string' || typeof value.id === 'number' ? value.id : null;
  if (isRecord(error) && typeof error.code === 'number') {
    const message = typeof error.message === 'string' ? error.message : '';
    return { kind: 'error', id, code: error.code, message, data: error.data };
  }
  if (typeof method === 'string')
    return id === null ? { kind: 'notification', method } : { kind: 'request', id, method };
  return id !== null && result !== undefined ? { kind: 'result', id, result } : undefined;
}

/**
 * Measures a JSON value: its depth, and its number of values, names and characters. Works without recursion, so depth
 * does not matter.
 */
export function sizeOf(json: unknown): { depth: number; values: number; characters: number } {
  const size = { depth: -1, values: 0, characters: 0 };
  for (let level = [json]; level.length > 0; level = level.flatMap(partsOf)) {
    size.depth++;
    size.values += level.length;
    for (const value of level) if (typeof value === 'string') size.characters += value.length;
  }
  return size;
}

function partsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isRecord(value) ? Object.entries(value).flat() : [];
}
