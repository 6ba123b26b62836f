import { createHash } from 'node:crypto';
import { canonicalJson } from '../../canonical-json.ts';
import type { Tool } from './tool.ts';

/** A fingerprint of a tool's schema: 20 hex digits, the same for every order of its parts. */
export function schemaHash({ inputSchema }: Pick<Tool, 'inputSchema'>): string {
  // readTool has bounded its depth.
  return createHash('sha256').update(canonicalJson(inputSchema)).digest('hex').slice(0, 20);
}
