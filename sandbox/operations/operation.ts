import * as z from 'zod';
import { Refusal } from '../refusal.ts';
import type { Store } from '../store.ts';

type Fields = Readonly<Record<string, z.ZodType>>;
type Values<R extends Fields, O extends Fields> = { [K in keyof R]: z.output<R[K]> } & {
  [K in keyof O]?: z.output<O[K]>;
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
 * The evidence in docs/partner-api.md#operations. `documented`: path and payload fields. `fields assumed`: only the
 * path is documented, and the fields follow by analogy. `assumed`: both follow by analogy.
 *
 * docs/partner-api.md#payload-types has everything that is known about the types of payload fields, and which are
 * required. The
 * values of fields that were not sent are not shown. Everything else here is assumed, such as that unknown fields are
 * dropped.
 */
export type Evidence = 'documented' | 'fields assumed' | 'assumed';

/** An invalid field, and what is wrong with it. */
type Fault = readonly [field: string, reason: string];

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
  /** A rule over several fields. */
  rule?(payload: Values<R, O>): Fault | null;
  run(payload: Values<R, O>, store: Store, stamp: string, actorId: string): Result;
}

export interface Operation {
  readonly path: string;
  readonly evidence: Evidence;
  readonly scope: string | null;
  readonly success: 200 | 201;
  /** The status for an invalid payload. */
  readonly invalid: 400 | 422;
  /** Returns the known fields of a payload. @throws {Refusal} if one is missing or invalid */
  validate(payload: Payload): Payload;
  /** @param stamp the time as YYYY-MM-DD HH:MM:SS, in UTC (assumed) @param actorId the user who acts */
  run(payload: Payload, store: Store, stamp: string, actorId: string): Result;
}

const NAME = 'must be a string that is not empty';
const COUNT = 'must be an integer of at least 1';
const INTEGERS = 'must be an array of integers';

/** The types of payload fields. The document shows no maximum lengths and sizes, so there are none. */
export const text = z.string('must be a string');
export const name = z.string(NAME).regex(/\S/, NAME);
export const uuid = z.guid('must be a UUID');
export const id = z.union([z.int(), z.string().min(1)], 'must be an identifier');
export const number = z.number('must be a number').nonnegative('must be a number');
export const count = z.int(COUNT).min(1, COUNT);
export const boolean = z.boolean('must be a boolean');
export const date = z.iso.date('must be a date as YYYY-MM-DD');
export const integers = z.array(z.int(INTEGERS), INTEGERS);

type NoFields = Readonly<Record<never, never>>;

export function operation<const R extends Fields = NoFields, const O extends Fields = NoFields>(
  declared: Declaration<R, O>,
): Operation {
  const { path, evidence, scope, success = 200, invalid = 422, required = {}, optional = {} } = declared;
  // Required fields come first, also in a refusal, and stay required even if they are optional elsewhere.
  const known = z.object({ ...required, ...z.object(optional).partial().shape, ...required });
  const refuse = (faults: Fault[]): never => {
    throw new Refusal(invalid, 'Validation failed', { errors: Object.fromEntries(faults) });
  };
  // The result of `validate` has these types, but the declaration cannot express that to the compiler.
  const typed = (payload: Payload) => payload as Values<R, O>;
  return {
    path,
    evidence,
    scope,
    success,
    invalid,
    validate(payload) {
      const read = known.safeParse(payload);
      if (!read.success) return refuse(read.error.issues.map((issue) => faultOf(issue, payload)));
      const broken = declared.rule?.(typed(read.data));
      return broken ? refuse([broken]) : read.data;
    },
    run: (payload, store, stamp, actorId) => declared.run(typed(payload), store, stamp, actorId),
  };
}

function faultOf({ path: [field], message }: z.core.$ZodIssue, payload: Payload): Fault {
  const name = String(field);
  return [name, payload[name] === undefined ? 'is required' : message];
}

/** The defaults for page and page size (1 and 20), and the zeros of an empty list, are assumed. */
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
