import { createHash } from 'node:crypto';
import { isRecord } from './json-rpc.ts';
import type { Tool } from './tool.ts';

/** A fingerprint of a tool's schema: 20 hex digits, the same in whatever order the instance lists its parts. */
export function schemaHash({ inputSchema }: Pick<Tool, 'inputSchema'>): string {
  return createHash('sha256')
    .update(JSON.stringify(inOrder(inputSchema)))
    .digest('hex')
    .slice(0, 20);
}

/** The same JSON with its keys sorted. readTool has bounded its depth. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([name, part]) => [name, inOrder(part)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
