import * as z from 'zod';
import type { FieldNames } from './field-names.ts';

/**
 * How much is known of an operation (docs/partner-api.md#operations).
 * - `documented`: its path and its payload.
 * - `payload not shown`: its path; the payload stays an open record.
 * - `assumed`: neither; path and fields follow what is documented elsewhere, and an override can correct both.
 */
export type Evidence = 'documented' | 'payload not shown' | 'assumed';

/**
 * What a second carrying-out would do.
 * - `read`: nothing.
 * - `repeatable`: the same once more, so it may simply be sent again with a new nonce.
 * - `create`: a second thing, so it goes through the journal of signed requests.
 * - `unknown`: treated as `create`.
 */
export type Effect = 'read' | 'repeatable' | 'create' | 'unknown';

/** How a created thing is found again when the answer to its creation was lost. */
export interface Finding {
  /** The text field of the payload that carries the relay's marker, and comes back in the list. */
  field: string;
  /** The name of the operation that lists such things. */
  list: string;
  /** The fields of the payload that narrow the list. */
  scope: readonly string[];
  /** The list's name for the size of a page. */
  pageSize: 'per_page' | 'limit';
}

/** One operation of the partner API: declared once, in the file of its resource. */
export interface Operation<Payload extends z.ZodType = z.ZodType, Data extends z.ZodType = z.ZodType> {
  /** Its path below the partner API, without the leading slash: `defects/create`. */
  name: string;
  /** The path that is called; other than the name only by an override. */
  path: string;
  evidence: Evidence;
  effect: Effect;
  /**
   * The documented status of success. Any 2xx is accepted: projects/create has two (docs/partner-api.md#operations).
   */
  success: 200 | 201;
  payload: Payload;
  data: Data;
  /** Only by an override. */
  fields: FieldNames;
  /** For `create`: the field of the data that holds the new thing's id. */
  createdId?: string;
  /** For `create`: the way to what was created. Without one, a lost answer can only be decided by a person. */
  found?: Finding;
}

type Declaration<P extends z.ZodType, D extends z.ZodType> = Omit<Operation<P, D>, 'path' | 'fields'>;

/** Declares an operation. */
export function operation<P extends z.ZodType, D extends z.ZodType>(declaration: Declaration<P, D>): Operation<P, D> {
  return { ...declaration, path: declaration.name, fields: {} };
}

/** What goes over the wire as it was signed; fetch would encode, resolve or cut off anything else. */
export const operationPath = /^[\w~-][\w.~-]*(\/[\w~-][\w.~-]*)*$/;

/** @throws {Error} for a path that could not be sent as it is signed */
function plainPath(path: string): string {
  const plain = path.replace(/^\/+/, '');
  if (operationPath.test(plain)) return plain;
  throw new Error(`operation path '${path}': expected names joined by slashes, such as defects/create`);
}

/** A call of any path, with any payload and any result. */
export function rawOperation(name: string): Operation<typeof openRecord, z.ZodUnknown> {
  return operation({
    name: plainPath(name),
    evidence: 'assumed',
    effect: 'unknown',
    success: 200,
    payload: openRecord,
    data: z.unknown(),
  });
}

/** What `relay.config.ts` may correct of an assumed operation. */
export interface OperationOverride {
  /** The real path below the partner API. */
  path?: string | undefined;
  /** The relay's field names to the instance's, for payload and result: `{ hours: { name: 'spent', unit: 'minutes' } }`. */
  fields?: FieldNames | undefined;
}

/** The operation with its path and field names corrected. */
export function withOverride<O extends Operation>(declared: O, override: OperationOverride | undefined): O {
  if (!override) return declared;
  return {
    ...declared,
    path: override.path === undefined ? declared.path : plainPath(override.path),
    fields: override.fields ?? declared.fields,
  };
}

/** A payload whose fields are not shown. */
export const openRecord = z.record(z.string(), z.unknown());

/**
 * A field that is documented without a type, or that is assumed: the service judges its value. `priority` may be a
 * number, `coverage_percentage` a decimal string, and null may empty either.
 */
export const untyped = z.unknown().optional();

/** Types of identifiers other than project_id and group_ids are not shown: both shapes are taken. */
export const id = z.union([z.string().min(1), z.number()]);

/** A UUID of any version, also of none: the contract says UUID and no more. */
export const uuid = z.guid();

/** An identifier as somebody typed it: digits alone are taken for a number. */
export function idFromText(text: string): string | number {
  return /^\d{1,15}$/.test(text) ? Number(text) : text;
}

/** A documented field of a result that may be missing or null. */
export const maybe = <T extends z.ZodType>(type: T) => type.nullish();

/** A text of a result that is not shown. Anything else in its place counts as missing. */
export const assumedText = z.string().nullish().catch(null);

/** Any record, or list of records, whose fields are not shown. */
export const openData = z.unknown();
