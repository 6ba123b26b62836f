import { outsideText } from '../outside-text.ts';
import { isScope } from './scopes.ts';

/** The content of a `WWW-Authenticate: Bearer` header (RFC 6750, section 3; RFC 9728, section 5.1). */
export interface Challenge {
  /** `invalid_request`, `invalid_token` or `insufficient_scope`; otherwise null. */
  error: string | null;
  description: string | null;
  /** The scopes that the request requires. */
  scopes: readonly string[];
  /** The address of the protected resource's metadata. */
  resourceMetadata: string | null;
}

const MOST_CHARACTERS = 8_192;
const PARAMETER = /([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g;

/** Returns the error named in a text. @returns null if there is none */
export const knownError = (text: string): string | null => ERROR.exec(text)?.[0] ?? null;

/** The errors of docs/partner-api.md#mcp-errors. */
const ERROR = /\b(invalid_request|invalid_token|insufficient_scope)\b/;

/** @returns null without a header or a Bearer challenge in it */
export function readChallenge(header: string | null): Challenge | null {
  if (header === null || header.length > MOST_CHARACTERS) return null;
  const [, bearer] = /(?:^|,)\s*Bearer\b(.*)$/is.exec(header) ?? [];
  if (bearer === undefined) return null;
  const parameters = new Map<string, string>();
  for (const [, name = '', quoted, token] of bearer.matchAll(PARAMETER)) {
    const value = quoted === undefined ? (token ?? '') : quoted.replaceAll(/\\(.)/g, '$1');
    // The first value counts, because the header may contain a second challenge.
    if (!parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), outsideText(value));
  }
  const read = (name: string) => parameters.get(name) || null;
  return {
    error: knownError(read('error') ?? ''),
    description: read('error_description'),
    scopes: (read('scope') ?? '').split(/\s+/).filter(isScope),
    resourceMetadata: read('resource_metadata'),
  };
}
