import * as z from 'zod/v4/core';
import { nearest, nearMiss } from '../near-miss.ts';
import { expectation, OTHER_KIND, UNKNOWN_NAME } from './expectation.ts';

/** What is wrong with one part of something that a person wrote. */
export interface Fault {
  /** The path to it: `['github', 'repositories', 0, 'logtime']`. Empty for the whole. */
  path: readonly PropertyKey[];
  /** What is expected, and what was found. */
  message: string;
}

interface ReadOptions {
  /** False for values that must not be shown, such as secrets. Messages then name only their type. Default: true. */
  showValues?: boolean;
}

type InputReading<T> = { ok: true; value: T } | { ok: false; faults: Fault[] };

/** The longest text of a person that a message repeats. */
const LONGEST_SHOWN = 60;

/**
 * Checks what a person wrote against a schema. The faults are described without the terms of zod.
 *
 * A message that a schema sets itself stands as it is. If it begins with "expected", what was found is added.
 */
export function readInput<T>(
  schema: z.$ZodType<T>,
  input: unknown,
  { showValues = true }: ReadOptions = {},
): InputReading<T> {
  /** The valid names, by zod's array of the unknown ones: an issue has that array, but not its schema. */
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

/** `github.repositories.0.logtime: there is no such name here; did you mean 'logTime'?` */
export function faultLine({ path, message }: Fault): string {
  return `${path.map(String).join('.') || '(whole)'}: ${message}`;
}

/** The alternative of a union that takes this kind of value. Its faults say more than those of the others. */
function nearestBranch(branches: readonly (readonly z.$ZodIssue[])[]): readonly z.$ZodIssue[] | undefined {
  const fitting = branches.filter(
    (issues) => !issues.some(({ path, code }) => path.length === 0 && code !== 'unrecognized_keys'),
  );
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** The message of a union: its own, or those of its alternatives. */
function ofUnion(issue: z.$ZodIssueInvalidUnion): string {
  if (issue.message !== OTHER_KIND) return issue.message;
  const expected = issue.errors.flatMap(([first]) => first?.message.replace(/^expected /, '') ?? []);
  return `expected ${[...new Set(expected)].join(', or ')}`;
}

/** The value that was probably meant, of those that a setting can have. */
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
 * What to say of a name that does not exist: `no connection 'mian'; did you mean 'main'?`, or the names that exist if
 * none of them is near.
 *
 * @param what the kind of thing, with `no`: `no connection`
 */
export function unknownName(what: string, given: string, known: readonly string[]): string {
  return `${what} '${given}'; ${meantName(given, known)}`;
}

/** More names than a reader takes in. */
const MOST_NAMES = 15;
const NEAREST_NAMES = 5;
const CODE_LENGTH = 4;

/**
 * `did you mean 'main'?`, `there is only main`, or `there are main, other`. Of many names it says those that begin alike, such
 * as the actions of one event, or else the nearest.
 */
export function meantName(given: string, known: readonly string[]): string {
  const meant = nearMiss(given, known);
  if (meant !== undefined) return `did you mean '${meant}'?`;
  if (known.length === 0) return 'there are none';
  if (known.length === 1) return `there is only ${known[0]}`;
  const beginning = (name: string) => name.split(/[./]/, 1)[0];
  const alike = known.filter((name) => beginning(name) === beginning(given));
  // Codes, such as those of countries, are near to any word.
  const areCodes = known.every((name) => name.length < CODE_LENGTH);
  const few = alike.length > 0 ? alike : nearest(given.slice(0, LONGEST_SHOWN), known, NEAREST_NAMES);
  const shown = known.length > MOST_NAMES && !areCodes ? few : known;
  const others = known.length - shown.length;
  return `there are ${shown.join(', ')}${others > 0 ? ` and ${others} others` : ''}`;
}
