import type { IncomingMessage } from 'node:http';

/**
 * Reads a body of at most `maxBytes`, however its length is announced.
 *
 * @returns undefined for a longer one, of which no more is read
 * @throws {Error} where the sender goes away
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length']) > maxBytes) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  // The caller answers before the socket is closed.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
