import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { canonicalJson } from '../../digest.ts';
import { isRecord } from '../../outside.ts';
import { sizeOf } from './json-rpc.ts';
import { scopesIn } from './oauth/scopes.ts';
import { outsideText } from './outside-text.ts';

/** A tool of an instance. Its name and arguments are known only at run time. */
export interface Tool {
  name: string;
  title: string | undefined;
  description: string;
  /** The JSON schema of the arguments, of type `object`. */
  inputSchema: Readonly<Record<string, unknown>>;
  /** The tool's scopes, from `_meta.scope` (assumed) or its description. */
  scopes: readonly string[];
  /** The instance's statements about the tool: hints, not promises (MCP 2025-11-25, ToolAnnotations). */
  hints: { readOnly: boolean; destructive: boolean; idempotent: boolean };
}

/** The tools of an instance, and the unusable ones with the reason for each. */
export interface ToolList {
  tools: Tool[];
  unusable: { name: string; why: string }[];
}

export interface ToolResult {
  /** True if the tool reports its own failure. */
  isError: boolean;
  /** The content's texts, in order. They are from outside. */
  texts: string[];
  /** The kinds of content other than text, such as `image` and `resource_link`. */
  otherKinds: string[];
  structured: Readonly<Record<string, unknown>> | undefined;
}

const MOST_SCHEMA_BYTES = 64 * 1024;
const MOST_SCHEMA_DEPTH = 24;
const MOST_SCHEMA_VALUES = 5_000;
const MOST_RESULT_DEPTH = 64;
/** The size limit for a tool. People read only the beginning, and a job stores all of it in one table item. */
const MOST_CHARACTERS = 8_192;
/** Newer revisions of the protocol have this limit; older ones have none. */
const NAME = /^[\x21-\x7e]{1,128}$/;

const text = z.catch(
  z.optional(
    z.pipe(
      z.string(),
      z.transform((long: string) => long.slice(0, MOST_CHARACTERS)),
    ),
  ),
  undefined,
);
const flag = (otherwise: boolean) => z.catch(z.boolean(), otherwise);

const listed = z.object({
  title: text,
  description: text,
  inputSchema: z.record(z.string(), z.unknown()),
  _meta: z.catch(z.optional(z.object({ scope: text })), undefined),
  annotations: z.catch(
    z.object({
      title: text,
      readOnlyHint: flag(false),
      // Without hints, a tool counts as destructive, and must not be repeated.
      destructiveHint: flag(true),
      idempotentHint: flag(false),
    }),
    { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  ),
});

/** Reads an entry of `tools/list`. @returns why the tool cannot be used, if it cannot */
export function readTool(entry: unknown): Tool | { name: string; why: string } {
  const given = isRecord(entry) ? entry.name : undefined;
  if (typeof given !== 'string' || !NAME.test(given)) {
    const name = typeof given === 'string' ? outsideText(given) : '(no name)';
    return { name, why: 'its name is not 1 to 128 printable ASCII characters without spaces' };
  }
  const name = given;
  // Checked first, because the code that follows may recurse.
  const { depth, values } = sizeOf(entry);
  if (depth > MOST_SCHEMA_DEPTH) return { name, why: `it is nested deeper than ${MOST_SCHEMA_DEPTH} levels` };
  if (values > MOST_SCHEMA_VALUES) return { name, why: `it has more than ${MOST_SCHEMA_VALUES} values` };
  const { success, data } = listed.safeParse(entry);
  if (!success || data.inputSchema.type !== 'object') {
    return { name, why: 'its inputSchema is no JSON schema of an object' };
  }
  const bytes = Buffer.byteLength(JSON.stringify(data.inputSchema));
  if (bytes > MOST_SCHEMA_BYTES) {
    return { name, why: `its inputSchema has ${bytes} bytes; ${MOST_SCHEMA_BYTES} are the most` };
  }
  const { readOnlyHint, destructiveHint, idempotentHint } = data.annotations;
  return {
    name,
    title: data.title ?? data.annotations.title,
    description: data.description ?? '',
    inputSchema: data.inputSchema,
    scopes: scopesIn(`${data._meta?.scope ?? ''} ${data.description ?? ''}`),
    hints: {
      readOnly: readOnlyHint,
      destructive: !readOnlyHint && destructiveHint,
      idempotent: readOnlyHint || idempotentHint,
    },
  };
}

/** @returns undefined if it is not a tool's result */
export function readToolResult(result: unknown): ToolResult | undefined {
  if (!isRecord(result) || sizeOf(result).depth > MOST_RESULT_DEPTH) return undefined;
  const content = result.content ?? [];
  if (!Array.isArray(content)) return undefined;
  const parts = content.filter(isRecord);
  return {
    isError: result.isError === true,
    texts: parts.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : [])),
    otherKinds: parts.flatMap(({ type }) => (typeof type === 'string' && type !== 'text' ? [outsideText(type)] : [])),
    structured: isRecord(result.structuredContent) ? result.structuredContent : undefined,
  };
}

/** Returns a fingerprint of a tool's schema: 20 hex digits, independent of the order of its parts. */
export function schemaHash({ inputSchema }: Pick<Tool, 'inputSchema'>): string {
  // readTool has limited the depth.
  return createHash('sha256').update(canonicalJson(inputSchema)).digest('hex').slice(0, 20);
}
