import { numberIn, valueFault } from './check-arguments.ts';
import { type Argument, argumentsOf } from './input-schema.ts';
import { outsideText } from './outside-text.ts';
import type { Tool } from './tool.ts';

/** An argument of a tool, as people fill it in. */
export interface FormField {
  /** Of the argument. It may be any text, also an empty one. */
  name: string;
  /** What the schema says of it: one short line. */
  hint: string;
  /** Whether the field may stay empty: then the argument is left out, or null if the tool needs it. */
  isOptional: boolean;
  argument: Argument;
}

/** The fields of a tool, required ones first; undefined if the tool has more than a form can hold. */
export function fieldsOf({ inputSchema }: Pick<Tool, 'inputSchema'>): FormField[] | undefined {
  const { byName, required, isFlat } = argumentsOf(inputSchema);
  if (!isFlat) return undefined;
  const needed = new Set(required);
  const fields = [...byName].flatMap(([name, argument]) => {
    if (!argument) return [];
    const isOptional = !needed.has(name) || argument.isNullable;
    return [{ name, hint: outsideText(argument.description), isOptional, argument }];
  });
  return fields.toSorted((a, b) => Number(a.isOptional) - Number(b.isOptional));
}

/**
 * The arguments that a filled-in form has for its tool, or what is wrong with one of its fields.
 * @param values as typed or chosen, by argument; several choices with one on each line
 */
export function readForm(
  tool: Pick<Tool, 'inputSchema'>,
  values: Readonly<Record<string, string>>,
): { args: Record<string, unknown> } | { name: string; fault: string } {
  const needed = new Set(argumentsOf(tool.inputSchema).required);
  const filled: [string, unknown][] = [];
  for (const { name, argument, isOptional } of fieldsOf(tool) ?? []) {
    const typed = Object.hasOwn(values, name) ? (values[name] ?? '') : '';
    const isNeeded = needed.has(name);
    if (typed === '' && isOptional) {
      if (isNeeded) filled.push([name, null]);
      continue;
    }
    const value = read(argument, typed);
    const fault = typed === '' ? 'this must not be empty' : valueFault(argument, value);
    if (fault !== undefined) return { name, fault };
    filled.push([name, value]);
  }
  // Not by assignment: an argument may be called __proto__.
  return { args: Object.fromEntries(filled) };
}

function read({ kind, choices, entry }: Argument, typed: string): unknown {
  switch (kind) {
    case 'number':
    case 'integer':
      return numberIn(typed);
    case 'boolean':
      return typed === 'true';
    case 'choice':
      return choices.find((one) => String(one) === typed);
    case 'list':
      return typed.split('\n').map((line) => entry && read(entry, line));
    default:
      return typed;
  }
}
