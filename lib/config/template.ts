/** The fields of a command, by name. */
export type Fields = Readonly<Record<string, unknown>>;

const FIELD = /\{(\w+)\}/g;

/** Returns the names of a template's fields: `hours` for `{ spent: '{hours}' }`. */
export function fieldsIn(template: unknown): string[] {
  if (typeof template === 'string') return [...template.matchAll(FIELD)].map(([, name = '']) => name);
  if (typeof template !== 'object' || template === null) return [];
  return Object.values(template).flatMap(fieldsIn);
}

/**
 * Fills a template with fields. A text that is exactly one field becomes the field's value, of any type. In a longer
 * text, fields are inserted as text. An argument is left out if it has fields and all of them are missing.
 */
export function fillTemplate(template: Fields, fields: Fields): Record<string, unknown> {
  return filled(template, fields) as Record<string, unknown>;
}

/** A tool, and the arguments for it. */
export interface ToolCall {
  tool: string;
  /** The hash of the schema for which the arguments were written. A tool that has changed since is not called. */
  schema: string;
  /**
   * The arguments. Only their spelling is adapted to the schema: ids as numbers or texts, and the case of listed
   * values.
   */
  arguments: Fields;
}

/** Returns the call of a configured tool, with its template filled. */
export const callOf = ({ tool, schema, arguments: template }: ToolCall, fields: Fields): ToolCall => ({
  tool,
  schema,
  arguments: fillTemplate(template, fields),
});

function filled(template: unknown, fields: Fields): unknown {
  if (typeof template === 'string') return filledText(template, fields);
  if (Array.isArray(template)) {
    return template.map((entry) => filled(entry, fields)).filter((entry) => entry !== undefined);
  }
  if (typeof template !== 'object' || template === null) return template;
  const entries = Object.entries(template).map(([name, part]) => [name, filled(part, fields)] as const);
  return Object.fromEntries(entries.filter(([, part]) => part !== undefined));
}

function filledText(template: string, fields: Fields): unknown {
  const [, only] = /^\{(\w+)\}$/.exec(template) ?? [];
  if (only !== undefined) return fields[only];
  const names = fieldsIn(template);
  if (names.length > 0 && names.every((name) => fields[name] === undefined)) return undefined;
  return template.replaceAll(FIELD, (_, name: string) => String(fields[name] ?? '')).trim();
}
