import { isRecord } from '../../outside.ts';
import type { Tool } from './tool.ts';

/** Spells a value as a part of a schema does. What does not fit stays as it is. */
type Spelling = (value: unknown) => unknown;
/** By name; undefined for a part that takes something else. */
type Spellings = ReadonlyMap<string, Spelling | undefined>;
type Schema = Readonly<Record<string, unknown>>;

/** How many references are followed, one after the other: code generators put each kind of object into a definition. */
const MOST_REFERENCES = 4;

/**
 * The arguments as the tool's schema spells them, where only the spelling differs: an id is a number for one tool and a
 * text for another, and a priority is `High` or `high`. The service refuses what does not fit.
 *
 * Each part of the schema is read a few times, however its references are nested, so a schema from outside cannot ask
 * for more work than its size.
 */
export function fitArguments({ inputSchema }: Pick<Tool, 'inputSchema'>, args: Readonly<Record<string, unknown>>) {
  let definitions: Spellings = new Map();
  for (let reference = 0; reference < MOST_REFERENCES; reference++)
    definitions = definitionsIn(inputSchema, definitions);
  return fitted(membersOf(inputSchema.properties, definitions), args);
}

/**
 * By the reference to each: `#/$defs/priority`.
 *
 * @param others the same, with one reference less followed
 */
function definitionsIn(inputSchema: Schema, others: Spellings): Spellings {
  return new Map(
    ['$defs', 'definitions'].flatMap((place) =>
      entriesOf(inputSchema[place]).map(
        ([name, schema]) => [`#/${place}/${name}`, spellingOf(schema, others)] as const,
      ),
    ),
  );
}

function membersOf(properties: unknown, definitions: Spellings): Spellings {
  return new Map(entriesOf(properties).map(([name, schema]) => [name, spellingOf(schema, definitions)]));
}

function fitted(members: Spellings, args: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => {
      const spelt = members.get(name);
      return [name, spelt ? spelt(value) : value];
    }),
  );
}

function spellingOf(schema: unknown, definitions: Spellings): Spelling | undefined {
  if (!isRecord(schema)) return undefined;
  const { anyOf, $ref, type, items, properties } = schema;
  if (Array.isArray(anyOf)) {
    const [only, ...others] = anyOf.filter((one) => !(isRecord(one) && one.type === 'null'));
    return others.length === 0 ? spellingOf(only, definitions) : undefined;
  }
  if (typeof $ref === 'string') return definitions.get($ref);
  if (Array.isArray(schema.enum)) return spellingOfChoice(schema.enum);
  const [only, ...others] = [type].flat().filter((one) => one !== 'null');
  if (others.length > 0) return undefined;
  switch (only) {
    case 'string':
      return (value) => (typeof value === 'number' ? String(value) : value);
    case 'number':
    case 'integer':
      return (value) => (typeof value === 'string' ? numberIn(value) : value);
    case 'array': {
      const spelt = spellingOf(items, definitions);
      return spelt && ((value) => (Array.isArray(value) ? value.map(spelt) : value));
    }
    case 'object': {
      const members = membersOf(properties, definitions);
      return (value) => (isRecord(value) ? fitted(members, value) : value);
    }
    default:
      return undefined;
  }
}

/** @returns undefined if two of the values look the same */
function spellingOfChoice(listed: readonly unknown[]): Spelling | undefined {
  const values = listed.filter((value) => value !== null);
  if (new Set(values.map(String)).size < values.length) return undefined;
  // The first of several that differ only in case, because the last entry of a map wins.
  const choices = new Map(values.toReversed().map((one) => [String(one).toLowerCase(), one]));
  return (value) => choices.get(String(value).toLowerCase()) ?? value;
}

/** The number that a text spells without a loss; otherwise the text. */
function numberIn(text: string): number | string {
  return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text;
}

const entriesOf = (value: unknown) => (isRecord(value) ? Object.entries(value) : []);
