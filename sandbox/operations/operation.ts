import { Refusal } from '../refusal.ts';
import type { Store } from '../store.ts';

interface FieldTypes {
  text: string;
  name: string;
  uuid: string;
  id: string | number;
  number: number;
  count: number;
  boolean: boolean;
  any: unknown;
  date: string;
  integers: number[];
}

type Fields = Readonly<Record<string, keyof FieldTypes>>;
type Values<R extends Fields, O extends Fields> = { [K in keyof R]: FieldTypes[R[K]] } & {
  [K in keyof O]?: FieldTypes[O[K]];
};

export type Payload = Readonly<Record<string, unknown>>;

export interface Pagination {
  total: number;
  per_page: number;
  current_page: number;
  last_page: number;
  from: number;
  to: number;
}

export interface Result {
  data: object;
  pagination?: Pagination;
}

/**
 * As in docs/partner-api.md#operations. `documented`: path and payload fields. `fields assumed`: only the path is
 * documented, and the fields follow by analogy. `assumed`: both follow by analogy.
 *
 * docs/partner-api.md#payload-types shows all that is known about the types of payload fields and which are required.
 * The values of fields that were not sent are not shown. Everything else here is assumed, including that unknown fields
 * are dropped.
 */
export type Evidence = 'documented' | 'fields assumed' | 'assumed';

interface Declaration<R extends Fields, O extends Fields> {
  readonly path: string;
  readonly evidence: Evidence;
  /** null: any key may call it. Names other than `*` are assumed: '<resource>.read' and '<resource>.write'. */
  readonly scope: string | null;
  /** Default: 200. */
  readonly success?: 201;
  /** docs/partner-api.md#statuses: 400 for test scenarios, test steps and defects; 422, the default, for the others. */
  readonly invalid?: 400;
  /** Default: none. */
  readonly required?: R;
  readonly optional?: O;
  /** A rule over several fields: the field to blame and what is wrong, or null. */
  rule?(payload: Values<R, O>): readonly [field: string, reason: string] | null;
  run(payload: Values<R, O>, store: Store, stamp: string, actorId: string): Result;
}

export interface Operation {
  readonly path: string;
  readonly evidence: Evidence;
  readonly scope: string | null;
  readonly success: 200 | 201;
  /** The status for an invalid payload. */
  readonly invalid: 400 | 422;
  /** The known fields of a payload. Throws a Refusal if one is missing or invalid. */
  validate(payload: Payload): Payload;
  /** `stamp` is the time of the work as YYYY-MM-DD HH:MM:SS, in UTC (assumed). `actorId` is the user who does it. */
  run(payload: Payload, store: Store, stamp: string, actorId: string): Result;
}

type NoFields = Readonly<Record<never, never>>;

export function operation<const R extends Fields = NoFields, const O extends Fields = NoFields>(
  declared: Declaration<R, O>,
): Operation {
  const { path, evidence, scope, success = 200, invalid = 422, required = {}, optional = {} } = declared;
  const types = Object.entries<keyof FieldTypes>({ ...required, ...optional });
  // The result of `validate` has these types, but the declaration cannot express that to the compiler.
  const typed = (payload: Payload) => payload as Values<R, O>;
  return {
    path,
    evidence,
    scope,
    success,
    invalid,
    validate(payload) {
      const known: Record<string, unknown> = {};
      const errors: Record<string, string> = {};
      for (const [field, type] of types) {
        const value = payload[field];
        if (value === undefined) {
          if (field in required) errors[field] = 'is required';
        } else if (fieldTypes[type].accepts(value)) known[field] = value;
        else errors[field] = `must be ${fieldTypes[type].label}`;
      }
      const broken = Object.keys(errors).length === 0 ? declared.rule?.(typed(known)) : null;
      if (broken) errors[broken[0]] = broken[1];
      if (Object.keys(errors).length > 0) throw new Refusal(invalid, 'Validation failed', { errors });
      return known;
    },
    run: (payload, store, stamp, actorId) => declared.run(typed(payload), store, stamp, actorId),
  };
}

/** The defaults for page and page size (1 and 20) are assumed, and so are the zeros of an empty list. */
export function paginate(
  records: readonly object[],
  { page = 1, per_page = 20 }: { page?: number; per_page?: number },
): Result {
  const start = (page - 1) * per_page;
  const data = records.slice(start, start + per_page);
  return {
    data,
    pagination: {
      total: records.length,
      per_page,
      current_page: page,
      last_page: Math.max(1, Math.ceil(records.length / per_page)),
      from: data.length === 0 ? 0 : start + 1,
      to: data.length === 0 ? 0 : start + data.length,
    },
  };
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isInteger = (value: unknown): value is number => Number.isSafeInteger(value);

/** Maximum lengths and sizes are not shown, so there are none. */
const fieldTypes: Record<keyof FieldTypes, { label: string; accepts(value: unknown): boolean }> = {
  text: { label: 'a string', accepts: isText },
  name: { label: 'a string that is not empty', accepts: (value) => isText(value) && value.trim() !== '' },
  uuid: {
    label: 'a UUID',
    accepts: (value) => isText(value) && /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i.test(value),
  },
  id: { label: 'an identifier', accepts: (value) => isInteger(value) || (isText(value) && value !== '') },
  number: { label: 'a number', accepts: (value) => typeof value === 'number' && value >= 0 },
  count: { label: 'an integer of at least 1', accepts: (value) => isInteger(value) && value >= 1 },
  boolean: { label: 'a boolean', accepts: (value) => typeof value === 'boolean' },
  any: { label: 'any value', accepts: () => true },
  date: { label: 'a date as YYYY-MM-DD', accepts: isDate },
  integers: { label: 'an array of integers', accepts: (value) => Array.isArray(value) && value.every(isInteger) },
};

function isDate(value: unknown): boolean {
  if (!isText(value) || !/^\d{4}-\d\d-\d\d$/.test(value)) return false;
  const date = new Date(`${value}T00:00:00Z`);
  // 2026-02-30 either does not parse or comes back as another day.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value);
}
