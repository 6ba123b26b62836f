import { isRecord } from './json-rpc.ts';

/** What one argument of a tool takes: a value, a list or an object. */
export interface Argument {
  kind: 'text' | 'date' | 'number' | 'integer' | 'boolean' | 'choice' | 'list' | 'object';
  /** The values of a choice. Their texts differ. */
  choices: readonly ChoiceValue[];
  /** The entries of a list; undefined for the other kinds. */
  entry: Argument | undefined;
  /** The members of an object; empty for the other kinds. */
  members: Arguments;
  isNullable: boolean;
}

type ChoiceValue = string | number | boolean;
/** By name; undefined for a part that takes something else. */
type Arguments = ReadonlyMap<string, Argument | undefined>;

/** The arguments of a tool. */
interface ToolArguments {
  byName: Arguments;
  required: readonly string[];
  /** Whether the tool may take arguments that it does not list. */
  takesOthers: boolean;
}

type Schema = Readonly<Record<string, unknown>>;
/** By the reference to each: `#/$defs/priority`. */
type Definitions = ReadonlyMap<string, Argument>;

/** How many references are followed, one after the other: code generators put each kind of object into a definition. */
const MOST_REFERENCES = 4;

/**
 * Reads the arguments of a tool. Each part of the schema is read a few times, however its references are nested, so a
 * schema from outside cannot ask for more work than its size.
 */
export function argumentsOf(inputSchema: Schema): ToolArguments {
  const { properties, required, additionalProperties } = inputSchema;
  let definitions: Definitions = new Map();
  for (let reference = 0; reference < MOST_REFERENCES; reference++)
    definitions = definitionsIn(inputSchema, definitions);
  const byName = membersOf(properties, definitions);
  const needed = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  return { byName, required: needed, takesOthers: additionalProperties !== false };
}

/** @param others the same, with one reference less followed */
function definitionsIn(inputSchema: Schema, others: Definitions): Definitions {
  const definitions = new Map<string, Argument>();
  for (const place of ['$defs', 'definitions']) {
    for (const [name, schema] of entriesOf(inputSchema[place])) {
      const argument = isRecord(schema) ? ownArgument(schema, others) : undefined;
      if (argument) definitions.set(`#/${place}/${name}`, argument);
    }
  }
  return definitions;
}

const membersOf = (properties: unknown, definitions: Definitions): Arguments =>
  new Map(entriesOf(properties).map(([name, schema]) => [name, argumentOf(schema, definitions)]));

function argumentOf(schema: unknown, definitions: Definitions): Argument | undefined {
  if (!isRecord(schema)) return undefined;
  const { anyOf } = schema;
  if (!Array.isArray(anyOf)) return oneValue(schema, definitions);
  const [only, ...others] = anyOf.filter((one) => !isNull(one));
  const argument = others.length === 0 && isRecord(only) ? oneValue(only, definitions) : undefined;
  return argument && { ...argument, isNullable: argument.isNullable || anyOf.length > 1 };
}

function oneValue(schema: Schema, definitions: Definitions): Argument | undefined {
  return typeof schema.$ref === 'string' ? definitions.get(schema.$ref) : ownArgument(schema, definitions);
}

function ownArgument(
  { type, format, items, properties, ...schema }: Schema,
  definitions: Definitions,
): Argument | undefined {
  const types = [type].flat();
  const [only, ...others] = types.filter((one) => one !== 'null');
  const isNullable = types.includes('null');
  if (others.length > 0) return undefined;
  if (schema.enum !== undefined) return items === undefined ? enumeration(schema.enum, isNullable) : undefined;
  const plain = { choices: [], entry: undefined, members: new Map(), isNullable };
  if (only === 'array') {
    const entry = isRecord(items) ? oneValue(items, definitions) : undefined;
    return entry ? { ...plain, kind: 'list', entry } : undefined;
  }
  if (items !== undefined) return undefined;
  if (only === 'object') return { ...plain, kind: 'object', members: membersOf(properties, definitions) };
  if (only === 'string') return { ...plain, kind: format === 'date' ? 'date' : 'text' };
  return only === 'number' || only === 'integer' || only === 'boolean' ? { ...plain, kind: only } : undefined;
}

function enumeration(values: unknown, hasNull: boolean): Argument | undefined {
  if (!Array.isArray(values)) return undefined;
  const choices = values.filter((value) => value !== null);
  if (choices.length === 0 || !choices.every(isChoice)) return undefined;
  if (new Set(choices.map(String)).size < choices.length) return undefined;
  const isNullable = hasNull || choices.length < values.length;
  return { kind: 'choice', choices, entry: undefined, members: new Map(), isNullable };
}

const isChoice = (value: unknown): value is ChoiceValue => ['string', 'number', 'boolean'].includes(typeof value);

const isNull = (schema: unknown) => isRecord(schema) && schema.type === 'null';

const entriesOf = (value: unknown) => (isRecord(value) ? Object.entries(value) : []);
