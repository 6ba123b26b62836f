import * as z from 'zod/v4/core';
import { nearest, nearMiss } from '../near-miss.ts';
import { expectation, OTHER_KIND, UNKNOWN_NAME } from './expectation.ts';

/** A fault in one part of something that a person wrote. */
export interface Fault {
  /** The path to the part: `['github', 'repositories', 0, 'logtime']`. Empty for the whole. */
  path: readonly PropertyKey[];
  /** The expected and the found value. */
  message: string;
}

interface ReadOptions {
  /** False for values that must not be shown, such as secrets. Messages then name only their type. Default: true. */
  showValues?: boolean;
}

type InputReading<T> = { ok: true; value: T } | { ok: false; faults: Fault[] };

/** The longest part of a person's text that a message repeats. */
const LONGEST_SHOWN = 60;

/**
 * Checks what a person wrote against a schema, and describes faults without the terms of zod.
 *
 * A schema's own message stays as it is. If it begins with "expected", the found value is added.
 */
export function readInput<T>(
  schema: z.$ZodType<T>,
  input: unknown,
  { showValues = true }: ReadOptions = {},
): InputReading<T> {
  /** The valid names, keyed by zod's array of the unknown names, because an issue has that array but not its schema. */
  const known = new WeakMap<readonly string[], readonly string[]>();
  const error = (issue: z.$ZodRawIssue) => {
    if (issue.code === 'unrecognized_keys' && issue.schema instanceof z.$ZodObject) {
      known.set(issue.keys, Object.keys(issue.schema._zod.def.shape));
    }
    return expectation(issue);
  };
  const parsed = z.safeParse(schema, input, { error });
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, faults: parsed.error.issues.flatMap((issue) => faultsOf(issue, [])) };

  function faultsOf(issue: z.$ZodIssue, above: readonly PropertyKey[]): Fault[] {
    const path = [...above, ...issue.path];
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        path: [...path, key],
        message:
          issue.message === UNKNOWN_NAME
            ? `${UNKNOWN_NAME}; ${meantName(key, known.get(issue.keys) ?? [])}`
            : issue.message,
      }));
    }
    if (issue.code === 'invalid_key') {
      const [why] = issue.issues;
      return [{ path, message: `this name cannot be used: ${why?.message ?? issue.message}` }];
    }
    const found = at(input, path);
    if (issue.code === 'invalid_union') {
      const branch = nearestBranch(issue.errors);
      if (branch) return branch.flatMap((inner) => faultsOf(inner, path));
    }
    const message = issue.code === 'invalid_union' ? ofUnion(issue) : issue.message;
    return [{ path, message: withFound(message, found) + (showValues ? meantValue(issue, found) : '') }];
  }

  function withFound(message: string, found: unknown): string {
    if (!message.startsWith('expected ')) return message;
    return found === undefined ? `missing; ${message}` : `${message}, found ${shown(found, showValues)}`;
  }
}

/** Returns a fault in one line: `github.repositories.0.logtime: this name is unknown; did you mean 'logTime'?` */
export function faultLine({ path, message }: Fault): string {
  return `${path.map(String).join('.') || '(whole)'}: ${message}`;
}

/**
 * Returns the faults of the only alternative that accepts this kind of value, because they say more than the others.
 */
function nearestBranch(branches: readonly (readonly z.$ZodIssue[])[]): readonly z.$ZodIssue[] | undefined {
  const fitting = branches.filter(
    (issues) => !issues.some(({ path, code }) => path.length === 0 && code !== 'unrecognized_keys'),
  );
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** Returns the message of a union: its own, or else those of its alternatives. */
function ofUnion(issue: z.$ZodIssueInvalidUnion): string {
  if (issue.message !== OTHER_KIND) return issue.message;
  const expected = issue.errors.flatMap(([first]) => first?.message.replace(/^expected /, '') ?? []);
  return `expected ${[...new Set(expected)].join(', or ')}`;
}

/** Suggests the valid value that was probably meant. */
function meantValue(issue: z.$ZodIssue, found: unknown): string {
  if (typeof found !== 'string') return '';
  const meant = nearMiss(found, valuesOf(issue));
  return meant === undefined ? '' : `; did you mean '${meant}'?`;
}

function valuesOf(issue: z.$ZodIssue): string[] {
  if (issue.code === 'invalid_union') return issue.errors.flat().flatMap(valuesOf);
  return issue.code === 'invalid_value' ? issue.values.map(String) : [];
}

const at = (input: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce(
    (value: unknown, key) => (Object(value) === value ? Reflect.get(value as object, key) : undefined),
    input,
  );

function shown(value: unknown, showValues: boolean): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (value === null) return 'null';
  switch (typeof value) {
    case 'object':
      return Object.keys(value).length === 0 ? 'an empty object' : 'an object';
    case 'function':
      return 'a function';
    case 'string':
      if (value === '') return 'an empty text';
      if (!showValues) return 'a text';
      return `'${value.length > LONGEST_SHOWN ? `${value.slice(0, LONGEST_SHOWN)}…` : value}'`;
    default:
      return showValues ? String(value) : `a ${typeof value}`;
  }
}

/**
 * Says that a name does not exist: `no connection 'mian'; did you mean 'main'?`. Without a similar name, it lists the
 * existing ones.
 *
 * @param what the kind of thing, with `no`: `no connection`
 */
export function unknownName(what: string, given: string, known: readonly string[]): string {
  return `${what} '${given}'; ${meantName(given, known)}`;
}

/** Longer lists are shortened for the reader. */
const MOST_NAMES = 15;
const NEAREST_NAMES = 5;
const CODE_LENGTH = 4;

/**
 * Suggests existing names: `did you mean 'main'?`, `there is only main`, or `there are main, other`. Shortens a long
 * list to the names with the same beginning, such as the actions of one event, or else to the nearest.
 */
export function meantName(given: string, known: readonly string[]): string {
  const meant = nearMiss(given, known);
  if (meant !== undefined) return `did you mean '${meant}'?`;
  if (known.length === 0) return 'there are none';
  if (known.length === 1) return `there is only ${known[0]}`;
  const beginning = (name: string) => name.split(/[./]/, 1)[0];
  const alike = known.filter((name) => beginning(name) === beginning(given));
  // Short codes, such as those of countries, are similar to any word.
  const areCodes = known.every((name) => name.length < CODE_LENGTH);
  const few = alike.length > 0 ? alike : nearest(given.slice(0, LONGEST_SHOWN), known, NEAREST_NAMES);
  const shown = known.length > MOST_NAMES && !areCodes ? few : known;
  const others = known.length - shown.length;
  return `there are ${shown.join(', ')}${others > 0 ? ` and ${others} others` : ''}`;
}
