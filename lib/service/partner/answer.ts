import * as z from 'zod';
import { isRecord, onOneLine } from '../../outside.ts';
import { PartnerRefusal, PartnerUnreadable } from './errors.ts';
import { ourFields } from './field-names.ts';
import type { Operation } from './operation.ts';
import { notJsonKind, readRefusalBody, withoutSecrets } from './refusal-body.ts';
import { readRetryAfter } from './retry-after.ts';

/** The position in a paged list (docs/partner-api.md#pagination). */
export interface Pagination {
  total?: number | null | undefined;
  per_page?: number | null | undefined;
  current_page: number;
  last_page: number;
  /** The number of the first row, from 1. */
  from?: number | null | undefined;
}

/** A result of the service: its envelope, with the data checked against the operation's schema. */
export interface Result<Data> {
  status: number;
  message: string | null;
  data: Data;
  pagination: Pagination | null;
  /** How many seconds the service's clock is ahead, if the service had refused our time. */
  clockOffsetSeconds?: number;
}

/**
 * The longest decompressed body: more than a page of 100 descriptions of 48 KB. A compressed answer of a few kilobytes
 * could otherwise grow beyond a function's memory.
 */
export const MOST_BODY_BYTES = 8 * 1024 * 1024;

/**
 * The highest number of lists, records and members in a body, because each takes memory once parsed. A page of 1,000
 * records has a third of it.
 */
const MOST_VALUES = 100_000;

export interface HttpAnswer {
  status: number;
  headers: Headers;
  body: string;
  /** True if the body is longer than {@link MOST_BODY_BYTES}, so that its end is missing. */
  isCut: boolean;
}

/** The statuses of a refusal (docs/partner-api.md#statuses). The status decides, regardless of the body. */
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 403, 404, 422, 429, 500]);

const envelope = z.looseObject({
  success: z.literal(true),
  message: z.string().nullish(),
  data: z.unknown().optional(),
  pagination: z
    .looseObject({
      total: z.number().nullish(),
      per_page: z.number().nullish(),
      current_page: z.number(),
      last_page: z.number(),
      from: z.number().nullish().catch(null),
    })
    .nullish(),
});

/**
 * Reads an answer. The status decides; the body only adds detail.
 *
 * @param secrets values that must not be repeated from the answer
 * @param now epoch milliseconds by our clock when the answer came
 * @throws {PartnerRefusal} for a documented error status, or for the envelope with `success: false` or any status from
 * 400
 * @throws {PartnerUnreadable} for anything else that is not the documented envelope with the declared data
 */
export function readAnswer<D extends z.ZodType>(
  operation: Operation<z.ZodType, D>,
  answer: HttpAnswer,
  secrets: readonly string[],
  now: number,
): Result<z.output<D>> {
  const { status, headers, body } = answer;
  const retryAfterSeconds = readRetryAfter(headers.get('retry-after'), now);
  const unreadable = (found: PartnerUnreadable['found'], detail?: string) =>
    new PartnerUnreadable(operation.name, { status, found, retryAfterSeconds, ...(detail ? { detail } : {}) });

  if (status >= 300 && status < 400) {
    throw unreadable('a redirect', withoutSecrets(redirectHint(headers.get('location')), secrets));
  }
  const excess = excessOf(answer);
  const json = excess === undefined ? parseJson(body) : undefined;
  if (REFUSALS.has(status) || (isRecord(json) && (status >= 400 || json.success === false))) {
    const { reason, ...said } = readRefusalBody(body, secrets);
    const refused = status === 401 ? reason : null;
    throw new PartnerRefusal(operation.name, {
      status,
      ...said,
      reason: refused,
      clockOffsetSeconds: refused === 'timestamp outside window' ? clockOffset(headers.get('date'), now) : null,
      retryAfterSeconds,
    });
  }
  if (excess !== undefined) throw unreadable('a body that is too large', excess);
  if (json === undefined) throw unreadable(notJsonKind(body));
  const parsed = envelope.safeParse(json);
  if (!parsed.success) throw unreadable('not the documented envelope', faultPaths(parsed.error, json));
  const { message, data, pagination } = parsed.data;
  const ours = ourFields(data, operation.fields);
  const result = operation.data.safeParse(upToFirstFault(operation.data, ours));
  if (!result.success) {
    const hint = [faultPaths(result.error, ours, 'data'), cameInstead(result.error, data), overrideHint(operation)];
    throw unreadable('other data than declared', withoutSecrets(hint.filter(Boolean).join('; '), secrets));
  }
  return { status, message: message ?? null, data: result.data, pagination: pagination ?? null };
}

function excessOf({ body, isCut }: HttpAnswer): string | undefined {
  if (isCut) return `more than ${MOST_BODY_BYTES / 2 ** 20} MB`;
  return hasMoreValues(body, MOST_VALUES) ? `more than ${MOST_VALUES} JSON values` : undefined;
}

/**
 * Counts the characters outside of strings that begin or separate values. Does not parse, so it can count in a body of
 * any size.
 */
function hasMoreValues(json: string, most: number): boolean {
  let values = 0;
  for (let at = 0; at < json.length && values <= most; at++) {
    const character = json[at];
    if (character === '"') at = endOfString(json, at);
    else if (character === ',' || character === '[' || character === '{') values++;
  }
  return values > most;
}

function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at;
}

/** @returns undefined if the text is not JSON */
function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Returns a list up to its first row with a fault, because zod makes an object for each fault of each row. */
function upToFirstFault(schema: z.ZodType, data: unknown): unknown {
  if (!(schema instanceof z.ZodArray) || !Array.isArray(data)) return data;
  const bad = data.findIndex((row) => !z.safeParse(schema.element, row).success);
  return bad < 0 ? data : data.slice(0, bad + 1);
}

function clockOffset(date: string | null, now: number): number | null {
  const theirs = Date.parse(date ?? '');
  return Number.isNaN(theirs) ? null : Math.round((theirs - now) / 1000);
}

/** Says where a redirect leads, without its query, which may contain a token. */
function redirectHint(location: string | null): string {
  if (location === null) return 'without a Location';
  const [target] = location.split(/[?#]/);
  return `to ${target}; check that the base URL is right and the instance is up`;
}

/** Lists only paths and faults, because the values may be confidential. */
function faultPaths(error: z.ZodError, value: unknown, prefix = ''): string {
  return error.issues
    .slice(0, 3)
    .map(({ path, code }) => {
      const name = [prefix, ...path].filter((part) => part !== '').join('.') || 'body';
      return `${name}: ${path.length > 0 && valueAt(value, path) === undefined ? 'missing' : code}`;
    })
    .join(', ');
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((at, name) => (typeof at === 'object' && at !== null ? Reflect.get(at, name) : undefined), value);
}

const MOST_FIELDS = 20;
const MOST_FIELD_CHARACTERS = 40;

/** Lists the field names of the first record with a fault. */
function cameInstead(error: z.ZodError, data: unknown): string {
  const row = Array.isArray(data) ? data[Number(error.issues[0]?.path[0] ?? 0)] : data;
  if (!isRecord(row)) return '';
  const names = Object.keys(row).map((name) => onOneLine(name).slice(0, MOST_FIELD_CHARACTERS));
  return names.length === 0 ? 'it has no fields' : `it has ${names.slice(0, MOST_FIELDS).join(', ')}`;
}

function overrideHint({ name, evidence }: Operation): string {
  if (evidence === 'documented') return '';
  return `name the right fields in relay.config.ts, under connections.<name>.operations['${name}'].fields`;
}
