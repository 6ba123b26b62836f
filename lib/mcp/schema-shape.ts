import { isRecord } from './json-rpc.ts';

/**
 * What a JSON schema accepts, as far as a form and the spelling of arguments need to know: local references are
 * followed, and alternatives and parts are put together. It is never stricter than the schema, which has the last word.
 */
export interface Shape {
  /** JSON types, with `null` and `integer`; undefined for any. */
  types: readonly string[] | undefined;
  /** Of `enum` or `const`; undefined for any. */
  values: readonly unknown[] | undefined;
  format: string | undefined;
  description: string | undefined;
  /** The schema of the entries of a list. */
  items: unknown;
  properties: Readonly<Record<string, unknown>>;
  required: readonly string[];
}

const anything: Shape = {
  types: undefined,
  values: undefined,
  format: undefined,
  description: undefined,
  items: undefined,
  properties: {},
  required: [],
};

/** A schema of a few kilobytes can refer to itself, or to so much that following all of it takes too long. */
const MOST_SCHEMAS = 500;

/**
 * @param root the schema that local references lead into
 * @returns undefined for a schema that is too large, or refers to itself or elsewhere
 */
export function shapeOf(schema: unknown, root: unknown): Shape | undefined {
  try {
    return follow(schema, { root, left: { count: MOST_SCHEMAS }, through: [] });
  } catch (error) {
    if (error instanceof NoShape) return undefined;
    throw error;
  }
}

/** Whether it accepts null. */
export const isNullable = ({ types, values }: Shape): boolean =>
  (types?.includes('null') ?? true) && (values?.includes(null) ?? true);

class NoShape extends Error {}

interface Way {
  root: unknown;
  left: { count: number };
  /** The references that led here. */
  through: readonly string[];
}

function follow(schema: unknown, way: Way): Shape {
  way.left.count -= 1;
  if (way.left.count < 0) throw new NoShape();
  if (!isRecord(schema)) return anything;
  const { $ref, allOf, anyOf, oneOf } = schema;
  const parts = [ownShape(schema)];
  if (typeof $ref === 'string') {
    if (way.through.includes($ref)) throw new NoShape();
    parts.push(follow(target($ref, way.root), { ...way, through: [...way.through, $ref] }));
  }
  if (Array.isArray(allOf)) parts.push(...allOf.map((part) => follow(part, way)));
  for (const alternatives of [anyOf, oneOf]) {
    if (Array.isArray(alternatives)) parts.push(either(alternatives.map((one) => follow(one, way))));
  }
  return parts.reduce(both);
}

/** The schema that a local reference names: `#/$defs/priority`. */
function target(ref: string, root: unknown): unknown {
  if (ref !== '#' && !ref.startsWith('#/')) throw new NoShape();
  let found = root;
  for (const part of ref.split('/').slice(1)) {
    const name = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) throw new NoShape();
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new NoShape();
  }
}

function ownShape(schema: Readonly<Record<string, unknown>>): Shape {
  const { type, format, description, items, properties, required } = schema;
  const types = [type].flat().filter((one) => typeof one === 'string');
  const listed = Array.isArray(schema.enum) ? schema.enum : undefined;
  return {
    types: types.length > 0 ? types : undefined,
    values: Object.hasOwn(schema, 'const') ? [schema.const] : listed,
    format: typeof format === 'string' ? format : undefined,
    description: typeof description === 'string' ? description : undefined,
    items,
    properties: isRecord(properties) ? properties : {},
    required: Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [],
  };
}

/** What both accept. */
function both(a: Shape, b: Shape): Shape {
  return {
    types: a.types && b.types ? commonTypes(a.types, b.types) : (a.types ?? b.types),
    values: a.values && b.values ? commonValues(a.values, b.values) : (a.values ?? b.values),
    format: a.format ?? b.format,
    description: a.description ?? b.description,
    items: a.items ?? b.items,
    properties: { ...b.properties, ...a.properties },
    required: [...new Set([...a.required, ...b.required])],
  };
}

function commonTypes(a: readonly string[], b: readonly string[]): string[] {
  const accepts = (types: readonly string[], type: string) =>
    types.includes(type) || (type === 'integer' && types.includes('number'));
  return [...new Set([...a.filter((type) => accepts(b, type)), ...b.filter((type) => accepts(a, type))])];
}

/** What one of them accepts. Null beside a single other one leaves that as it is. */
function either(shapes: readonly Shape[]): Shape {
  const others = shapes.filter((shape) => !isOnlyNull(shape));
  const [only] = others;
  const union = {
    types: unionOf(shapes.map(({ types, values }) => types ?? values?.map(typeOf))),
    values: unionOf(shapes.map((shape) => (isOnlyNull(shape) ? [null] : shape.values))),
  };
  if (only && others.length === 1) {
    const hasNull = others.length < shapes.length;
    return { ...only, types: union.types, values: hasNull && only.values ? union.values : only.values };
  }
  return {
    ...anything,
    ...union,
    // Not by assignment: an argument may be called __proto__.
    properties: Object.fromEntries(others.flatMap(({ properties }) => Object.entries(properties))),
  };
}

const isOnlyNull = ({ types, values }: Shape) =>
  values ? values.every((value) => value === null) : types?.every((type) => type === 'null') === true;

function unionOf<T>(lists: readonly (readonly T[] | undefined)[]): T[] | undefined {
  const known = lists.filter((list) => list !== undefined);
  if (known.length < lists.length) return undefined;
  return [...new Map(known.flat().map((value) => [JSON.stringify(value), value])).values()];
}

function commonValues(a: readonly unknown[], b: readonly unknown[]): unknown[] {
  const inB = new Set(b.map((value) => JSON.stringify(value)));
  return a.filter((value) => inB.has(JSON.stringify(value)));
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
