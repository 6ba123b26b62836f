import { isRecord } from './json-rpc.ts';
import { shapeOf } from './schema-shape.ts';

/**
 * Arguments as a tool's schema spells them, where only the spelling differs: an id is a number for one tool and a text
 * for another, and a priority is `High` or `high`. What does not fit stays as it is, for the validation to refuse.
 *
 * @param root the schema that local references lead into
 */
export function fitArguments(schema: unknown, value: unknown, root = schema): unknown {
  const shape = shapeOf(schema, root);
  if (!shape) return value;
  const { types, values, items, properties } = shape;
  if (Array.isArray(value)) return value.map((entry) => fitArguments(items, entry, root));
  if (isRecord(value)) {
    const schemaOf = (name: string) => (Object.hasOwn(properties, name) ? properties[name] : undefined);
    const fitted = Object.entries(value).map(([name, part]) => [name, fitArguments(schemaOf(name), part, root)]);
    return Object.fromEntries(fitted);
  }
  if (values) return fitEnum(values, value);
  return types ? fitType(types, value) : value;
}

function fitType(types: readonly string[], value: unknown): unknown {
  const isForNumbers = types.includes('number') || types.includes('integer');
  const isForTexts = types.includes('string');
  if (typeof value === 'number' && isForTexts && !isForNumbers) return String(value);
  return typeof value === 'string' && isForNumbers && !isForTexts ? numberIn(value) : value;
}

/** The number that a text spells without a loss; otherwise the text. */
export function numberIn(text: string): number | string {
  return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text;
}

function fitEnum(values: readonly unknown[], value: unknown): unknown {
  const spelt = String(value).toLowerCase();
  return values.includes(value) ? value : (values.find((one) => String(one).toLowerCase() === spelt) ?? value);
}
