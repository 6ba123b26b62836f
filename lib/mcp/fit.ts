import { isRecord } from './json-rpc.ts';

/**
 * Arguments as a tool's schema spells them, where only the spelling differs: an id is a number for one tool and a text
 * for another, and a priority is `High` or `high`. What does not fit stays as it is, for the validation to refuse.
 */
export function fitArguments(schema: unknown, value: unknown): unknown {
  if (!isRecord(schema)) return value;
  if (Array.isArray(value)) return value.map((entry) => fitArguments(schema.items, entry));
  if (isRecord(value)) {
    const { properties } = schema;
    const schemaOf = (name: string) =>
      isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, fitArguments(schemaOf(name), part)]));
  }
  if (Array.isArray(schema.enum)) return fitEnum(schema.enum, value);
  const types = [schema.type].flat();
  if (
    typeof value === 'number' &&
    !types.includes('number') &&
    !types.includes('integer') &&
    types.includes('string')
  ) {
    return String(value);
  }
  const isNumeric = typeof value === 'string' && /^-?\d{1,15}(\.\d{1,15})?$/.test(value);
  const isNumber = types.includes('number') || types.includes('integer');
  return isNumeric && isNumber && !types.includes('string') ? Number(value) : value;
}

function fitEnum(values: readonly unknown[], value: unknown): unknown {
  const spelt = String(value).toLowerCase();
  return values.includes(value) ? value : (values.find((one) => String(one).toLowerCase() === spelt) ?? value);
}
