import { isRecord } from '../../outside.ts';
import type { Tool } from './tool.ts';

/** Converts a value to the spelling of a schema part. Other values stay unchanged. */
type Spelling = (value: unknown) => unknown;
/** Spellings by name; undefined for a part of another kind. */
type Spellings = ReadonlyMap<string, Spelling | undefined>;
type Schema = Readonly<Record<string, unknown>>;

/** How many references in a row are followed: code generators put each kind of object into a definition. */
const MOST_REFERENCES = 4;

/**
 * Converts arguments to the spelling of the tool's schema: an id is a number for one tool and a text for another, and a
 * priority is `High` or `high`. The service refuses values that do not fit.
 *
 * Each part of the schema is read only a few times, however its references are nested, so a schema from outside causes
 * no more work than its size allows.
 */
export function fitArguments({ inputSchema }: Pick<Tool, 'inputSchema'>, args: Readonly<Record<string, unknown>>) {
  let definitions: Spellings = new Map();
  for (let reference = 0; reference < MOST_REFERENCES; reference++)
    definitions = definitionsIn(inputSchema, definitions);
  return fitted(membersOf(inputSchema.properties, definitions), args);
}

/**
 * Keyed by reference, such as `#/$defs/priority`.
 *
 * @param others the same definitions, with one reference less followed
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
  // A map keeps the last entry for a key. Reversed, the first of several values that differ only in case wins.
  const choices = new Map(values.toReversed().map((one) => [String(one).toLowerCase(), one]));
  return (value) => choices.get(String(value).toLowerCase()) ?? value;
}

/** Returns the number if the text spells one without loss, and otherwise the text. */
function numberIn(text: string): number | string {
  return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text;
}

const entriesOf = (value: unknown) => (isRecord(value) ? Object.entries(value) : []);
