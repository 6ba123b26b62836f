import { isRecord, onOneLine } from '../../outside.ts';
import type { NotEnvelope, UnauthorizedReason } from './errors.ts';

/** The content of an error body. Its fields are not shown, so everything here is optional and read leniently. */
export interface RefusalBody {
  /** The kind of the body, or null for the service's envelope. */
  found: NotEnvelope | null;
  serviceMessage: string | null;
  /** One line for each field: `title: is required`. */
  fieldErrors: readonly string[];
  /** The documented 401 reason that the body names. */
  reason: UnauthorizedReason;
}

/** A larger body is not an error message. Only its beginning is read, as text. */
const MOST_CHARACTERS = 200_000;
const MOST_NODES = 1_000;
const MOST_DEPTH = 8;
const MOST_MESSAGE_CHARACTERS = 500;
const MOST_LISTED_TEXTS = 10;
const MOST_FIELD_ERRORS = 10;
const MOST_FIELD_ERROR_CHARACTERS = 120;

/**
 * Reads the body of an error. Accepts any body, because it only adds to the HTTP status: JSON, HTML, plain text,
 * nothing.
 * @param secrets values that must not be repeated from the body
 */
export function readRefusalBody(body: string, secrets: readonly string[]): RefusalBody {
  const { found, value } = parse(body);
  // An HTML page is written for a browser, so only the documented reasons are searched in it.
  const nodes = found === 'an HTML page' ? [] : [...nodesOf(value)];
  const message = messageIn(nodes);
  const shown = (text: string, length: number) => withoutSecrets(onOneLine(text), secrets).slice(0, length);
  return {
    found,
    serviceMessage: message === undefined ? null : shown(message, MOST_MESSAGE_CHARACTERS),
    fieldErrors: fieldErrorsIn(nodes)
      .slice(0, MOST_FIELD_ERRORS)
      .map((line) => shown(line, MOST_FIELD_ERROR_CHARACTERS)),
    reason: unauthorizedReason(message, found === 'an HTML page' ? [body.slice(0, MOST_CHARACTERS)] : texts(nodes)),
  };
}

/** A body that is not JSON counts as one text. */
function parse(body: string): { found: NotEnvelope | null; value: unknown } {
  const notJson = notJsonKind(body);
  if (body.length > MOST_CHARACTERS) return { found: notJson, value: body.slice(0, MOST_CHARACTERS) };
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return { found: notJson, value: body };
  }
  const isEnvelope = isRecord(value) && typeof value.success === 'boolean';
  return { found: isEnvelope ? null : 'not the documented envelope', value };
}

export function notJsonKind(body: string): NotEnvelope {
  if (body.trim() === '') return 'an empty body';
  return /^\s*<(!doctype|html)/i.test(body) ? 'an HTML page' : 'not JSON';
}

/** Yields the value and everything in it, breadth first, within the limits. */
function* nodesOf(root: unknown): Generator<unknown> {
  let level = [root];
  let left = MOST_NODES;
  for (let depth = 0; depth < MOST_DEPTH && level.length > 0; depth++) {
    level = level.slice(0, left);
    left -= level.length;
    yield* level;
    level = level.flatMap((node) => (isRecord(node) || Array.isArray(node) ? Object.values(node) : []));
  }
}

const MESSAGE_FIELDS = ['message', 'error', 'detail', 'error_description'];

/** Returns the first text in a field that services commonly use for messages, or the body itself if it is text. */
function messageIn(nodes: readonly unknown[]): string | undefined {
  const [root] = nodes;
  const candidates = [
    root,
    ...nodes.flatMap((node) => (isRecord(node) ? MESSAGE_FIELDS.map((name) => node[name]) : [])),
  ];
  return candidates.map(textOrTexts).find((text) => text !== undefined && text.trim() !== '');
}

/** Returns a text, or a list of texts joined into one. */
function textOrTexts(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value) || value.length === 0) return undefined;
  return value.every((part) => typeof part === 'string') ? value.slice(0, MOST_LISTED_TEXTS).join('; ') : undefined;
}

/** Reads `errors` by field, or a list of errors that name a field, at any depth. */
function fieldErrorsIn(nodes: readonly unknown[]): string[] {
  return nodes.flatMap((node) => {
    if (!isRecord(node)) return [];
    if (isRecord(node.errors)) return Object.entries(node.errors).flatMap(([field, error]) => fieldError(field, error));
    if (Array.isArray(node.errors)) return node.errors.flatMap(listedError);
    return [];
  });
}

function fieldError(field: string, error: unknown): string[] {
  const text = textOrTexts(error) ?? messageIn([error]);
  return text === undefined ? [] : [`${field}: ${text}`];
}

function listedError(error: unknown): string[] {
  if (typeof error === 'string') return [error];
  if (!isRecord(error)) return [];
  const field = ['field', 'path', 'name'].map((name) => error[name]).find((name) => typeof name === 'string');
  const text = messageIn([error]);
  if (text === undefined) return [];
  return [typeof field === 'string' ? `${field}: ${text}` : text];
}

const REASONS: readonly [RegExp, UnauthorizedReason][] = [
  [/invalid[\s_-]signature/i, 'invalid signature'],
  [/timestamp[\s_-]outside[\s_-]window/i, 'timestamp outside window'],
  [/nonce[\s_-]already[\s_-]used/i, 'nonce already used'],
  [/unknown[\s_-]or[\s_-]revoked[\s_-]key/i, 'unknown or revoked key'],
];

/**
 * Finds the documented 401 reason, first in the message, then in any other text. The reasons are documented as text
 * only (docs/partner-api.md#401-reasons), and their field is not shown. A code such as `timestamp_outside_window`
 * counts, too. A body that names several reasons, such as a page that explains them all, yields none.
 */
function unauthorizedReason(message: string | undefined, all: readonly string[]): UnauthorizedReason {
  for (const texts of [message === undefined ? [] : [message], all]) {
    const named = REASONS.filter(([pattern]) => texts.some((text) => pattern.test(text)));
    if (named.length === 1 && named[0]) return named[0][1];
    if (named.length > 1) return 'unknown';
  }
  return 'unknown';
}

function texts(nodes: readonly unknown[]): string[] {
  return nodes.filter((node) => typeof node === 'string');
}

/** Replaces every secret in a text. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '[removed]'), text);
}
