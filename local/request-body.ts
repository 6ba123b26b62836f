import type { IncomingMessage } from 'node:http';
import { readUpTo } from '../lib/outside.ts';

/**
 * Reads a body of at most `maxBytes`, whatever length it announces.
 *
 * @returns undefined if the body is longer; the rest is not read
 * @throws {Error} if the sender disconnects
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length']) > maxBytes) return undefined;
  // The socket stays open for the caller's answer.
  const { bytes, isCut } = await readUpTo(maxBytes, request.iterator({ destroyOnReturn: false }));
  return isCut ? undefined : bytes;
}
