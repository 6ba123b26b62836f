import { numberIn } from './fit.ts';
import { outsideText } from './outside-text.ts';
import { isNullable, type Shape, shapeOf } from './schema-shape.ts';
import type { Tool } from './tool.ts';
import { findFault } from './validate-arguments.ts';

/** An argument of a tool, as people fill it in. */
export interface FormField {
  /** Of the argument. It may be any text, also an empty one. */
  name: string;
  /** What the schema says of it: one short line. */
  hint: string;
  /** Whether the field may stay empty: then the argument is left out, or null where the tool needs one. */
  isOptional: boolean;
  /** `list`: one entry on each line. `json`: whatever has a shape of its own. */
  kind: 'text' | 'integer' | 'number' | 'boolean' | 'date' | 'choice' | 'list' | 'json';
  /** Of a choice, in words. */
  choices: readonly string[];
  /** What an empty field means; undefined where the argument is left out. */
  empty: null | undefined;
  /** The value of what was typed or chosen. @throws {SyntaxError} for what is not JSON */
  read(typed: string): unknown;
}

/** The arguments that a tool takes, those first that it needs. What its schema accepts can be filled in. */
export function fieldsOf(inputSchema: Tool['inputSchema']): FormField[] {
  const { properties = {}, required = [] } = shapeOf(inputSchema, inputSchema) ?? {};
  const unlisted = required.filter((name) => !Object.hasOwn(properties, name)).map((name) => [name, true] as const);
  const fields = [...Object.entries(properties), ...unlisted]
    .filter(([, schema]) => schema !== false)
    .map(([name, schema]) => fieldOf(name, { schema, root: inputSchema }, required.includes(name)));
  return fields.toSorted((a, b) => Number(a.isOptional) - Number(b.isOptional));
}

function fieldOf(name: string, { schema, root }: { schema: unknown; root: unknown }, isRequired: boolean): FormField {
  const shape = shapeOf(schema, root);
  const isSaid = shape?.types !== undefined || shape?.values !== undefined;
  const takesNull = isRequired && isSaid && isNullable(shape);
  return {
    name,
    hint: outsideText(shape?.description ?? ''),
    isOptional: !isRequired || takesNull,
    empty: takesNull ? null : undefined,
    choices: [],
    ...(shape ? inputOf(shape, root) : json),
  };
}

type Input = Pick<FormField, 'kind' | 'read'> & Partial<Pick<FormField, 'choices'>>;

const json: Input = { kind: 'json', read: (typed) => JSON.parse(typed) };
const text: Input = { kind: 'text', read: (typed) => typed };

/** The field for a shape. A text field takes what is a text for the schema; what cannot be typed in one is JSON. */
function inputOf(shape: Shape, root: unknown): Input {
  const values = shape.values?.filter((value) => value !== null);
  if (values) return values.length > 0 ? choiceOf(values) : json;
  const types = shape.types?.filter((type) => type !== 'null');
  if (!types) return text;
  if (types.includes('string')) {
    return types.length === 1 && shape.format === 'date' ? { ...text, kind: 'date' } : text;
  }
  const [only = ''] = types;
  if (types.length > 0 && types.every((type) => type === 'number' || type === 'integer')) {
    return { kind: types.includes('number') ? 'number' : 'integer', read: numberIn };
  }
  if (types.length !== 1) return json;
  if (only === 'boolean') return { kind: 'boolean', read: (typed) => typed === 'true' };
  return only === 'array' ? listOf(shape.items, root) : json;
}

/** What an entry of a list can be to have one line. */
const ONE_LINE: ReadonlySet<FormField['kind']> = new Set(['text', 'date', 'integer', 'number', 'choice']);

function listOf(items: unknown, root: unknown): Input {
  const shape = items === undefined ? undefined : shapeOf(items, root);
  const entry = shape ? inputOf(shape, root) : json;
  if (!ONE_LINE.has(entry.kind)) return json;
  const lines = (typed: string) => typed.split('\n').map((line) => line.trim());
  return { kind: 'list', read: (typed) => lines(typed).flatMap((line) => (line === '' ? [] : [entry.read(line)])) };
}

function choiceOf(values: readonly unknown[]): Input {
  const inJson = values.map((value) => JSON.stringify(value));
  const inWords = values.map((value) =>
    typeof value === 'string' && value.trim() !== '' ? value : JSON.stringify(value),
  );
  const choices = new Set(inWords).size < new Set(inJson).size ? inJson : inWords;
  return {
    kind: 'choice',
    choices: [...new Set(choices)],
    read(typed) {
      const exact = choices.indexOf(typed);
      const at = exact >= 0 ? exact : choices.findIndex((one) => one.toLowerCase() === typed.toLowerCase());
      return at >= 0 ? values[at] : typed;
    },
  };
}

/** What is wrong with a form, and with which of its fields, where it is one. */
export interface FormFault {
  name: string | undefined;
  fault: string;
}

/** The arguments that were filled in for a tool, as its schema accepts them, or what is wrong with them. */
export function readForm(
  tool: Pick<Tool, 'name' | 'inputSchema'>,
  values: Readonly<Record<string, string>>,
): { args: Record<string, unknown> } | FormFault {
  const filled: [string, unknown][] = [];
  for (const { name, empty, read } of fieldsOf(tool.inputSchema)) {
    const typed = Object.hasOwn(values, name) ? values[name] : undefined;
    try {
      const value = typed === undefined || typed === '' ? empty : read(typed);
      if (value !== undefined) filled.push([name, value]);
    } catch (error) {
      if (error instanceof SyntaxError) return { name, fault: 'this is not JSON' };
      throw error;
    }
  }
  const args = Object.fromEntries(filled);
  const found = findFault(tool, args);
  return found ? { name: found.argument, fault: found.fault } : { args };
}
