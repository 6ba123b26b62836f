import { type Argument, argumentsOf } from './input-schema.ts';
import { isRecord } from './json-rpc.ts';
import { outsideText } from './outside-text.ts';
import type { Tool } from './tool.ts';

const MOST_BYTES = 64 * 1024;

/**
 * The arguments as the tool's schema spells them, where only the spelling differs: an id is a number for one tool and a
 * text for another, and a priority is `High` or `high`. What does not fit stays as it is, for {@link argumentsFault}.
 */
export function fitArguments({ inputSchema }: Pick<Tool, 'inputSchema'>, args: Readonly<Record<string, unknown>>) {
  return fitted(argumentsOf(inputSchema).byName, args);
}

function fitted(members: Argument['members'], args: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, spellingOf(members.get(name))(value)]));
}

/**
 * What is wrong with the arguments, with the name of the argument, in one line; undefined if nothing is. Only
 * types and listed values are checked here; the service refuses the rest.
 */
export function argumentsFault(
  { inputSchema }: Pick<Tool, 'inputSchema'>,
  args: Readonly<Record<string, unknown>>,
): string | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(args));
  if (bytes > MOST_BYTES) return `the arguments have ${bytes} bytes; ${MOST_BYTES} are the most`;
  const { byName, required, takesOthers } = argumentsOf(inputSchema);
  const missing = required.find((name) => args[name] === undefined);
  if (missing !== undefined) return `${outsideText(missing)}: it is missing`;
  for (const [name, value] of Object.entries(args)) {
    const argument = byName.get(name);
    const isUnknown = !byName.has(name) && !takesOthers;
    const fault = isUnknown ? 'this is not one of its arguments' : argument && valueFault(argument, value);
    if (fault !== undefined) return `${outsideText(name)}: ${fault}`;
  }
  return undefined;
}

/** What is wrong with the value of an argument, for a person; undefined if nothing is. */
function valueFault({ kind, choices, entry, isNullable }: Argument, value: unknown): string | undefined {
  if (value === null && isNullable) return undefined;
  switch (kind) {
    case 'text':
      return typeof value === 'string' ? undefined : 'this must be a text';
    case 'date':
      return isDate(value) ? undefined : 'this must be a date as YYYY-MM-DD';
    case 'number':
      return typeof value === 'number' ? undefined : 'this must be a number';
    case 'integer':
      return Number.isSafeInteger(value) ? undefined : 'this must be a whole number';
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'this must be true or false';
    case 'choice':
      return choices.some((one) => one === value)
        ? undefined
        : `this must be one of ${outsideText(choices.join(', '))}`;
    case 'object':
      return undefined;
    case 'list': {
      if (!Array.isArray(value)) return 'this must be a list';
      const listed = new Set<unknown>(entry?.choices);
      const wrong = value.findIndex((one) => entry && !listed.has(one) && valueFault(entry, one) !== undefined);
      return wrong < 0 || !entry ? undefined : valueFault(entry, value[wrong]);
    }
  }
}

/** The number that a text spells without a loss; otherwise the text. */
function numberIn(text: string): number | string {
  return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text;
}

/** Spells values as an argument does. It reads the choices once for all entries of a list. */
function spellingOf(argument: Argument | undefined): (value: unknown) => unknown {
  switch (argument?.kind) {
    case 'text':
      return (value) => (typeof value === 'number' ? String(value) : value);
    case 'number':
    case 'integer':
      return (value) => (typeof value === 'string' ? numberIn(value) : value);
    case 'choice': {
      // The first of those that differ in case only, as the last entry of a map wins.
      const choices = new Map(argument.choices.toReversed().map((one) => [String(one).toLowerCase(), one]));
      return (value) => choices.get(String(value).toLowerCase()) ?? value;
    }
    case 'list': {
      const spelt = spellingOf(argument.entry);
      return (value) => (Array.isArray(value) ? value.map(spelt) : value);
    }
    case 'object':
      return (value) => (isRecord(value) ? fitted(argument.members, value) : value);
    default:
      return (value) => value;
  }
}

/** 2026-02-30 either does not parse or comes back as another day. */
function isDate(value: unknown): boolean {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(value)) return false;
  return new Date(`${value}T00:00:00Z`).toJSON()?.startsWith(value) === true;
}
