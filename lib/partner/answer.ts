import * as z from 'zod';
import { PartnerRefusal, PartnerUnreadable, type UnauthorizedReason } from './errors.ts';
import type { Operation } from './operation.ts';

/** Where a list stands (interface document, Pagination object). */
export interface Pagination {
  total?: number | null | undefined;
  per_page?: number | null | undefined;
  current_page: number;
  last_page: number;
}

/** A result of the service: its envelope, with the data checked against the operation's schema. */
export interface Result<Data> {
  status: number;
  message: string | null;
  data: Data;
  pagination: Pagination | null;
}

/** An HTTP answer with its body read. */
export interface HttpAnswer {
  status: number;
  headers: Headers;
  body: string;
}

/** The fields of an error body are not shown, so that nothing of one is demanded but that it is an object. */
const refusalBody = z.looseObject({
  success: z.unknown().optional(),
  message: z.string().nullish().catch(null),
});

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
    })
    .nullish(),
});

/**
 * Reads an answer: the result, or an error that says what came instead.
 *
 * @param secrets what must not be repeated from the service's message
 * @param now epoch milliseconds by our clock when the answer came
 * @throws {PartnerRefusal} for an envelope with a status of 400 or more, or with `success: false`
 * @throws {PartnerUnreadable} for anything that is not the documented envelope
 */
export function readAnswer<D extends z.ZodType>(
  operation: Operation<z.ZodType, D>,
  answer: HttpAnswer,
  secrets: readonly string[],
  now: number,
): Result<z.output<D>> {
  const { status, headers } = answer;
  const retryAfterSeconds = readRetryAfter(headers.get('retry-after'), now);
  const unreadable = (found: PartnerUnreadable['found'], detail?: string) =>
    new PartnerUnreadable(operation.name, { status, found, retryAfterSeconds, ...(detail ? { detail } : {}) });

  if (status >= 300 && status < 400)
    throw unreadable('a redirect', withoutSecrets(redirectHint(headers.get('location')), secrets));
  if (answer.body.trim() === '') throw unreadable('an empty body');
  let json: unknown;
  try {
    json = JSON.parse(answer.body);
  } catch {
    throw /^\s*<(!doctype|html)/i.test(answer.body) ? unreadable('an HTML page') : unreadable('not JSON');
  }
  const refusal = refusalBody.safeParse(json);
  if (refusal.success && (status >= 400 || refusal.data.success === false)) {
    const { message } = refusal.data;
    const serviceMessage = message ? withoutSecrets(message, secrets).slice(0, 500) : null;
    const reason = status === 401 ? readUnauthorizedReason(message ?? '') : null;
    throw new PartnerRefusal(operation.name, {
      status,
      serviceMessage,
      reason,
      clockOffsetSeconds: reason === 'timestamp outside window' ? clockOffset(headers.get('date'), now) : null,
      retryAfterSeconds,
    });
  }
  const parsed = envelope.safeParse(json);
  if (!parsed.success) throw unreadable('not the documented envelope', faultPaths(parsed.error));
  const { message, data, pagination } = parsed.data;
  const result = operation.data.safeParse(ourNames(data, operation.fields));
  if (!result.success) throw unreadable('not the documented envelope', faultPaths(result.error, 'data'));
  return { status, message: message ?? null, data: result.data, pagination: pagination ?? null };
}

/** The documented 401 reasons are text only, so this one function reads text (interface document, 401 reasons). */
function readUnauthorizedReason(message: string): UnauthorizedReason {
  if (/invalid signature/i.test(message)) return 'invalid signature';
  if (/timestamp outside window/i.test(message)) return 'timestamp outside window';
  if (/nonce already used/i.test(message)) return 'nonce already used';
  if (/unknown or revoked key/i.test(message)) return 'unknown or revoked key';
  return 'unknown';
}

function clockOffset(date: string | null, now: number): number | null {
  const theirs = Date.parse(date ?? '');
  return Number.isNaN(theirs) ? null : Math.round((theirs - now) / 1000);
}

/** Seconds, or an HTTP date (RFC 9110, 10.2.3), which begins with a day of the week. `Date.parse` takes anything. */
function readRetryAfter(value: string | null, now: number): number | null {
  if (value === null) return null;
  if (/^\d+$/.test(value.trim())) return Number(value);
  const until = /^[a-z]{3,9},/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(until) ? null : Math.max(0, Math.ceil((until - now) / 1000));
}

/** Where a redirect leads, without its query, which may carry a token. */
function redirectHint(location: string | null): string {
  if (location === null) return 'without a Location';
  const [target] = location.split(/[?#]/);
  return `to ${target}; is the base URL right, and is the instance up?`;
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '[removed]'), text);
}

/** Only paths and expectations: the values that came are not ours to repeat. */
function faultPaths(error: z.ZodError, prefix = ''): string {
  return error.issues
    .slice(0, 3)
    .map((issue) => `${[prefix, ...issue.path].filter((part) => part !== '').join('.') || 'body'}: ${issue.code}`)
    .join(', ');
}

/** Field names of the instance turned into ours, in a record or in each record of a list. */
function ourNames(data: unknown, fields: Readonly<Record<string, string>>): unknown {
  const theirs = Object.entries(fields);
  if (theirs.length === 0) return data;
  const ours = new Map(theirs.map(([our, their]) => [their, our]));
  const rename = (row: unknown) =>
    typeof row === 'object' && row !== null && !Array.isArray(row)
      ? Object.fromEntries(Object.entries(row).map(([name, value]) => [ours.get(name) ?? name, value]))
      : row;
  return Array.isArray(data) ? data.map(rename) : rename(data);
}
