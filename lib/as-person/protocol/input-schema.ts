import { isRecord } from './json-rpc.ts';

/** What one argument of a tool takes: one value, or a list of values. */
export interface Argument {
  kind: 'text' | 'date' | 'number' | 'integer' | 'boolean' | 'choice' | 'list';
  /** The values of a choice. Their texts differ. */
  choices: readonly ChoiceValue[];
  /** The entries of a list; undefined for the other kinds. */
  entry: Argument | undefined;
  isNullable: boolean;
}

type ChoiceValue = string | number | boolean;

/** The arguments of a tool. */
interface ToolArguments {
  /** By name; undefined for an argument that is neither a value nor a list of values. */
  byName: ReadonlyMap<string, Argument | undefined>;
  required: readonly string[];
  /** Whether the tool may take arguments that it does not list. */
  takesOthers: boolean;
}

type Schema = Readonly<Record<string, unknown>>;
/** By the reference to each: `#/$defs/priority`. */
type Enumerations = ReadonlyMap<string, Argument>;

/**
 * Reads the arguments of a tool. Each part of the schema is read once, and only references to enumerations are followed,
 * so a schema from outside cannot ask for more work than its size.
 */
export function argumentsOf(inputSchema: Schema): ToolArguments {
  const { properties, required, additionalProperties } = inputSchema;
  const enumerations = enumerationsIn(inputSchema);
  const byName = new Map(entriesOf(properties).map(([name, schema]) => [name, argumentOf(schema, enumerations)]));
  const needed = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  return { byName, required: needed, takesOthers: additionalProperties !== false };
}

/** The definitions that are enumerations and refer to nothing themselves. Code generators put them there. */
function enumerationsIn(inputSchema: Schema): Enumerations {
  const enumerations = new Map<string, Argument>();
  for (const place of ['$defs', 'definitions']) {
    for (const [name, schema] of entriesOf(inputSchema[place])) {
      const argument = isRecord(schema) && schema.enum !== undefined ? ownArgument(schema, new Map()) : undefined;
      if (argument) enumerations.set(`#/${place}/${name}`, argument);
    }
  }
  return enumerations;
}

function argumentOf(schema: unknown, enumerations: Enumerations): Argument | undefined {
  if (!isRecord(schema)) return undefined;
  const { anyOf } = schema;
  if (!Array.isArray(anyOf)) return oneValue(schema, enumerations);
  const [only, ...others] = anyOf.filter((one) => !isNull(one));
  const argument = others.length === 0 && isRecord(only) ? oneValue(only, enumerations) : undefined;
  return argument && { ...argument, isNullable: argument.isNullable || anyOf.length > 1 };
}

function oneValue(schema: Schema, enumerations: Enumerations): Argument | undefined {
  return typeof schema.$ref === 'string' ? enumerations.get(schema.$ref) : ownArgument(schema, enumerations);
}

function ownArgument({ type, format, items, ...schema }: Schema, enumerations: Enumerations): Argument | undefined {
  const types = [type].flat();
  const [only, ...others] = types.filter((one) => one !== 'null');
  const isNullable = types.includes('null');
  if (others.length > 0) return undefined;
  if (schema.enum !== undefined) return items === undefined ? enumeration(schema.enum, isNullable) : undefined;
  const plain = { choices: [], entry: undefined, isNullable };
  if (only === 'array') {
    const entry = isRecord(items) && items.type !== 'array' ? oneValue(items, enumerations) : undefined;
    return entry && !entry.isNullable ? { ...plain, kind: 'list', entry } : undefined;
  }
  if (items !== undefined) return undefined;
  if (only === 'string') return { ...plain, kind: format === 'date' ? 'date' : 'text' };
  return only === 'number' || only === 'integer' || only === 'boolean' ? { ...plain, kind: only } : undefined;
}

function enumeration(values: unknown, hasNull: boolean): Argument | undefined {
  if (!Array.isArray(values)) return undefined;
  const choices = values.filter((value) => value !== null);
  if (choices.length === 0 || !choices.every(isChoice)) return undefined;
  if (new Set(choices.map(String)).size < choices.length) return undefined;
  return { kind: 'choice', choices, entry: undefined, isNullable: hasNull || choices.length < values.length };
}

const isChoice = (value: unknown): value is ChoiceValue => ['string', 'number', 'boolean'].includes(typeof value);

const isNull = (schema: unknown) => isRecord(schema) && schema.type === 'null';

const entriesOf = (value: unknown) => (isRecord(value) ? Object.entries(value) : []);
