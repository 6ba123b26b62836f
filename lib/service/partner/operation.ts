import * as z from 'zod';
import type { FieldNames } from './field-names.ts';

/**
 * How much is known about an operation (docs/partner-api.md#operations).
 * - `documented`: its path and its payload.
 * - `payload not shown`: its path; the payload stays an open record.
 * - `assumed`: neither; path and fields follow what is documented elsewhere, and an override can correct both.
 */
export type HowDocumented = 'documented' | 'payload not shown' | 'assumed';

/**
 * The effect of executing the operation a second time.
 * - `read`: nothing.
 * - `repeatable`: the same result, so it can be retried with a new nonce.
 * - `create`: a duplicate, so it goes through the journal of signed requests.
 * - `unknown`: treated as `create`, although it creates nothing with an id.
 */
export type Effect = 'read' | 'repeatable' | 'create' | 'unknown';

/** How to find a created object when the answer to its creation was lost. */
export interface HowFound {
  /** The text field of the payload that carries the relay's marker. The list must return it. */
  field: string;
  /** The name of the operation that lists these objects. */
  list: string;
  /** The fields of the payload that narrow the list. */
  scope: readonly string[];
}

/** How the service writes the digits of an identifier: `12` or `"12"`. */
export const idTypes = ['number', 'text'] as const;
export type IdType = (typeof idTypes)[number];

/** One operation of the partner API: declared once, in the file of its resource. */
export interface Operation<
  Payload extends z.ZodType = z.ZodType,
  Data extends z.ZodType = z.ZodType,
  Name extends string = string,
  Does extends Effect = Effect,
> {
  /** The path below the partner API, without the leading slash: `defects/create`. */
  name: Name;
  /** The path of the call. Differs from the name only if an override says so. */
  path: string;
  evidence: HowDocumented;
  effect: Does;
  /**
   * The documented status of success. Any 2xx is accepted: projects/create has two (docs/partner-api.md#operations).
   */
  success: 200 | 201;
  payload: Payload;
  data: Data;
  /** Set only by an override. */
  fields: FieldNames;
  /** The types of identifiers, by field. Set only by an override. */
  ids: Readonly<Record<string, IdType>>;
  /** For a list: the payload field for the page size. */
  pageSize?: 'per_page' | 'limit';
  /** False only by an override: the list comes complete in one answer. */
  paged: boolean;
  /** For `create`: the data field with the id of the new object. */
  createdId?: string;
  /** For `create`: how to find the new object. Without it, a person has to decide what a lost answer means. */
  found?: HowFound;
  /** For `create` without `found`: the operation that reads one object by the id that `createdId` names. */
  detail?: string;
}

/** Only a creating operation names the data field with the new id. */
type Declaration<P extends z.ZodType, D extends z.ZodType, N extends string, E extends Effect> = Omit<
  Operation<P, D, N, E>,
  'path' | 'fields' | 'ids' | 'paged' | 'createdId'
> &
  (E extends 'create' ? { createdId: D extends z.ZodObject<infer Fields> ? keyof Fields & string : never } : unknown);

export function operation<P extends z.ZodType, D extends z.ZodType, N extends string, E extends Effect>(
  declaration: Declaration<P, D, N, E>,
): Operation<P, D, N, E> {
  return { ...declaration, path: declaration.name, fields: {}, ids: {}, paged: true };
}

/** Matches the paths that are sent exactly as signed. fetch encodes, resolves or cuts off anything else. */
export const operationPath = /^[\w~-][\w.~-]*(\/[\w~-][\w.~-]*)*$/;

/** @throws {Error} if fetch would not send the path as it was signed */
function plainPath(path: string): string {
  const plain = path.replace(/^\/+/, '');
  // Also refuses names of object members, because items of the table have the path as a key.
  if (operationPath.test(plain) && !(plain in {})) return plain;
  throw new Error(`operation path '${path}': expected names joined by slashes, such as defects/create`);
}

/** Declares a call of any path, with any payload and any result. */
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

/** The parts of an operation that `relay.config.ts` can correct, because they are not documented. */
export interface OperationOverride {
  /** The real path below the partner API. */
  path?: string | undefined;
  /**
   * Maps the relay's field names to the instance's, for payload and result: `{ hours: { name: 'spent', unit: 'minutes'
   * } }`.
   */
  fields?: FieldNames | undefined;
  ids?: Readonly<Record<string, IdType>> | undefined;
  paged?: boolean | undefined;
}

/** Returns the operation with corrected path and field names. */
export function withOverride<O extends Operation>(declared: O, override: OperationOverride | undefined): O {
  if (!override) return declared;
  return {
    ...declared,
    path: override.path === undefined ? declared.path : plainPath(override.path),
    fields: override.fields ?? declared.fields,
    ids: override.ids ?? declared.ids,
    paged: override.paged ?? declared.paged,
  };
}

/** A payload whose fields are not shown. */
export const openRecord = z.record(z.string(), z.unknown());

/** Returns a list operation that accepts records with any fields. */
export const withAnyFields = (list: Operation) => ({ ...list, data: z.array(openRecord) });

/**
 * A field that is documented without a type, or that is assumed. The service checks its value: `priority` may be a
 * number, `coverage_percentage` a decimal string, and null may clear either.
 */
export const untyped = z.unknown().optional();

/** The types of identifiers other than project_id and group_ids are not shown, so numbers and strings are accepted. */
export const id = z.union([z.string().min(1), z.number()]);

/** A UUID of any version, or without a valid version, because the contract only says UUID. */
export const uuid = z.guid();

/** A documented field of a result that may be missing or null. */
export const maybe = <T extends z.ZodType>(type: T) => type.nullish();

/** A text field that is not shown. A value of any other type counts as missing. */
export const assumedText = z.string().nullish().catch(null);

/** Any record, or list of records, whose fields are not shown. */
export const openData = z.unknown();

export const reads = { effect: 'read', success: 200 } as const;
export const lists = { ...reads, pageSize: 'per_page' } as const;
export const changes = { effect: 'repeatable', success: 200, data: openData } as const;
export const creates = { effect: 'create', success: 201 } as const;
export const notShown = { evidence: 'payload not shown', payload: openRecord, data: openData } as const;

/** Checks the key and the encryption without touching data: returns the decrypted payload. */
export const validate = operation({
  name: 'validate',
  evidence: 'documented',
  ...reads,
  payload: openRecord,
  data: openData,
});
