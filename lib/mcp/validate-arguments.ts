import { createContext, runInContext } from 'node:vm';
import { type OutputUnit, type SchemaDraft, Validator } from '@cfworker/json-schema';
import { outsideText } from './outside-text.ts';
import type { Tool } from './tool.ts';

const MOST_BYTES = 64 * 1024;
/** A schema of a few kilobytes can ask for more work than there is time: by its patterns, or by references to itself. */
const MOST_MS = 250;

/**
 * What is wrong with the arguments by the tool's own JSON schema, in one line; undefined where nothing is. readTool has
 * bounded the depth and the size of the schema.
 */
export function argumentsFault(
  { name, inputSchema }: Pick<Tool, 'name' | 'inputSchema'>,
  args: object,
): string | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(args));
  if (bytes > MOST_BYTES) return `the arguments have ${bytes} bytes; ${MOST_BYTES} are the most`;
  let errors: OutputUnit[];
  try {
    errors = withinTime(() => {
      // The validator notes in the schema what it resolved.
      const validator = new Validator(structuredClone(inputSchema), draftOf(inputSchema.$schema));
      return validator.validate(structuredClone(args)).errors;
    });
  } catch (error) {
    return `the schema of ${name} cannot be applied (${outsideText(error instanceof Error ? error.message : String(error))})`;
  }
  // The last one is the innermost: what comes before says only that something in it is wrong.
  const innermost = errors.at(-1);
  if (!innermost) return undefined;
  const at = outsideText(innermost.instanceLocation.replace(/^#\/?/, ''));
  if (innermost.keyword === 'false') return `${at} is not one of its arguments`;
  return `${at === '' ? '' : `${at}: `}${outsideText(innermost.error)}`;
}

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
