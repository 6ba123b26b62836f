import { createContext, runInContext } from 'node:vm';
import { type OutputUnit, type SchemaDraft, Validator } from '@cfworker/json-schema';
import { outsideText } from './outside-text.ts';
import type { Tool } from './tool.ts';

const MOST_BYTES = 64 * 1024;
/**
 * A schema of a few kilobytes can ask for more work than there is time: by its patterns, or by references to itself.
 * The time is that of the clock, and a busy machine must not refuse what is right; Slack waits three seconds for a form.
 */
const MOST_MS = 1_000;

/** What is wrong with the arguments of a tool. */
export interface ArgumentsFault {
  /** The argument, where it is one. */
  argument: string | undefined;
  /** What is wrong with it, and where in it, in one line. */
  fault: string;
}

/** What is wrong, with the name of the argument, in one line; undefined where nothing is. */
export function argumentsFault(tool: Pick<Tool, 'name' | 'inputSchema'>, args: object): string | undefined {
  const found = findFault(tool, args);
  if (!found) return undefined;
  const { argument, fault } = found;
  return argument === undefined ? fault : `${outsideText(argument)}${fault.startsWith('/') ? '' : ': '}${fault}`;
}

/**
 * What is wrong with the arguments by the tool's own JSON schema; undefined where nothing is. readTool has bounded the
 * depth and the size of the schema.
 */
export function findFault(
  { name, inputSchema }: Pick<Tool, 'name' | 'inputSchema'>,
  args: object,
): ArgumentsFault | undefined {
  const ofAll = (fault: string): ArgumentsFault => ({ argument: undefined, fault });
  const bytes = Buffer.byteLength(JSON.stringify(args));
  if (bytes > MOST_BYTES) return ofAll(`the arguments have ${bytes} bytes; ${MOST_BYTES} are the most`);
  let errors: OutputUnit[];
  try {
    errors = withinTime(() => {
      // The validator notes in the schema what it resolved.
      const validator = new Validator(structuredClone(inputSchema), draftOf(inputSchema.$schema));
      return validator.validate(structuredClone(args)).errors;
    });
  } catch (error) {
    const why = outsideText(error instanceof Error ? error.message : String(error));
    return ofAll(`the schema of ${name} cannot be applied (${why})`);
  }
  // The last one is the innermost: what comes before says only that something in it is wrong. That it is not null, where
  // something else may stand as well, helps nobody.
  const innermost = errors.findLast((one) => !isAboutNull(one)) ?? errors.at(-1);
  if (!innermost) return undefined;
  const [argument, ...inside] = namesIn(innermost.instanceLocation);
  if (argument === undefined) return { argument: missingIn(innermost), fault: outsideText(innermost.error) };
  const said = innermost.keyword === 'false' ? 'this is not one of its arguments' : outsideText(innermost.error);
  return { argument, fault: inside.length === 0 ? said : `/${outsideText(inside.join('/'))}: ${said}` };
}

const isAboutNull = ({ keyword, error }: OutputUnit) => keyword === 'type' && error.endsWith('Expected "null".');

/** The names in a pointer of the validator, which is also part of a URL: `#/a%20b/0`. */
function namesIn(pointer: string): string[] {
  const names = pointer.split('/').slice(1);
  return names.map((name) => decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The validator has the name of an argument that is missing in its message only. */
const missingIn = ({ keyword, error }: OutputUnit) =>
  keyword === 'required' ? /required property "(.*)"\.$/s.exec(error)?.[1] : undefined;

/** Runs it in place, and ends it where it takes too long; also within a pattern. @throws {Error} for that */
function withinTime<T>(run: () => T): T {
  return runInContext('run()', createContext({ run }), { timeout: MOST_MS }) as T;
}

/** Without a draft, MCP means 2020-12 (MCP 2025-11-25, JSON Schema Usage). */
function draftOf(named: unknown): SchemaDraft {
  const [, draft] = /draft-0?(4|7)|(2019-09)/.exec(String(named)) ?? [];
  if (draft === '4' || draft === '7') return draft;
  return String(named).includes('2019-09') ? '2019-09' : '2020-12';
}
