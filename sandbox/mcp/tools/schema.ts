/** The part of JSON Schema that the tools' arguments are described with. */
export type Schema =
  | { type: 'string'; enum?: readonly string[]; format?: 'date'; description?: string }
  | { type: 'integer' | 'number'; description?: string }
  | { type: 'boolean'; description?: string }
  | { type: 'array'; items: Schema; minItems?: number; description?: string };

/** What a value of a schema is in TypeScript. */
export type ValueOf<S> = S extends { enum: readonly (infer E)[] }
  ? E
  : S extends { type: 'string' }
    ? string
    : S extends { type: 'integer' | 'number' }
      ? number
      : S extends { type: 'boolean' }
        ? boolean
        : S extends { type: 'array'; items: infer I }
          ? ValueOf<I>[]
          : never;

/** What is wrong with a value; undefined when it is as the schema says. */
export function faultOf(schema: Schema, value: unknown): string | undefined {
  switch (schema.type) {
    case 'string':
      return faultOfText(schema, value);
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false';
    case 'array': {
      if (!Array.isArray(value)) return 'must be a list';
      if (value.length < (schema.minItems ?? 0)) return `must have at least ${schema.minItems} entries`;
      return value.map((entry) => faultOf(schema.items, entry)).find((fault) => fault !== undefined);
    }
    default:
      return faultOfNumber(schema, value);
  }
}

function faultOfText(schema: Extract<Schema, { type: 'string' }>, value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (schema.enum && !schema.enum.includes(value)) return `must be one of ${schema.enum.join(', ')}`;
  // 2026-02-30 either does not parse or comes back as another day.
  const isDay = () => new Date(`${value}T00:00:00Z`).toJSON()?.startsWith(value);
  if (schema.format === 'date' && !(/^\d{4}-\d\d-\d\d$/.test(value) && isDay())) return 'must be a date as YYYY-MM-DD';
  return undefined;
}

function faultOfNumber(schema: Extract<Schema, { type: 'integer' | 'number' }>, value: unknown): string | undefined {
  if (typeof value !== 'number') return 'must be a number';
  if (schema.type === 'integer' && !Number.isSafeInteger(value)) return 'must be an integer';
  return undefined;
}
