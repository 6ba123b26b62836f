import { isRecord } from './json-rpc.ts';
import { outsideText } from './outside-text.ts';

/** An argument of a tool, as people fill it in. */
export interface FormField {
  name: string;
  /** What the schema says of it: one short line. */
  hint: string;
  required: boolean;
  /** `list`: one entry on each line. `json`: whatever has a shape of its own. */
  kind: 'text' | 'number' | 'boolean' | 'date' | 'choice' | 'list' | 'json';
  /** Of a choice. */
  choices: readonly string[];
}

/** The arguments that a tool takes, those first that it needs. */
export function fieldsOf(inputSchema: Readonly<Record<string, unknown>>): FormField[] {
  const properties = isRecord(inputSchema.properties) ? inputSchema.properties : {};
  const required: readonly unknown[] = Array.isArray(inputSchema.required) ? inputSchema.required : [];
  const fields = Object.entries(properties).map(([name, schema]) => ({
    name,
    hint: isRecord(schema) && typeof schema.description === 'string' ? outsideText(schema.description) : '',
    required: required.includes(name),
    ...kindOf(schema),
  }));
  return fields.toSorted((a, b) => Number(b.required) - Number(a.required));
}

function kindOf(schema: unknown): Pick<FormField, 'kind' | 'choices'> {
  if (!isRecord(schema)) return { kind: 'text', choices: [] };
  const { type, format, items } = schema;
  if (Array.isArray(schema.enum)) return { kind: 'choice', choices: schema.enum.map(String) };
  if (type === 'string' && format === 'date') return { kind: 'date', choices: [] };
  if (type === 'boolean') return { kind: 'boolean', choices: [] };
  if (type === 'number' || type === 'integer') return { kind: 'number', choices: [] };
  const isFlat = isRecord(items) && ['string', 'number', 'integer'].includes(String(items.type));
  if (type === 'array' && isFlat) return { kind: 'list', choices: [] };
  return { kind: type === 'array' || type === 'object' ? 'json' : 'text', choices: [] };
}

/** The arguments that were filled in; what stayed empty is left out. @returns what is wrong with a field, by its name */
export function readForm(
  fields: readonly FormField[],
  values: Readonly<Record<string, string>>,
): { args: Record<string, unknown> } | { fault: string } {
  const args: Record<string, unknown> = {};
  for (const { name, kind } of fields) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined || value === '') continue;
    try {
      args[name] = typedAs(kind, value);
    } catch {
      return { fault: `${name} is not JSON` };
    }
  }
  return { args };
}

function typedAs(kind: FormField['kind'], value: string): unknown {
  if (kind === 'boolean') return value === 'true';
  if (kind === 'json') return JSON.parse(value);
  if (kind !== 'list') return value;
  const entries = value.split('\n').map((line) => line.trim());
  return entries.filter((entry) => entry !== '');
}
