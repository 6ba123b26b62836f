import type { IncomingMessage } from 'node:http';

/**
 * Reads a body of at most `maxBytes`, regardless of its announced length.
 *
 * @returns undefined if the body is longer; the rest is not read
 * @throws {Error} if the sender disconnects
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length']) > maxBytes) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  // The caller sends the answer before the socket is closed.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
