import type { RequestListener } from 'node:http';
import dynalite from 'dynalite';
import { listen } from './listen.ts';
import { refusalOf } from './own-key.ts';

/** dynalite, on 127.0.0.1 only. */
export interface DatabaseServer {
  endpoint: string;
  close(): Promise<void>;
}

/**
 * Starts dynalite.
 *
 * @param accessKeyId requests with another key are refused
 * @param path folder for its files; without it, everything is in memory
 * @param clock for the dates of its answers
 */
export async function startDatabaseServer(
  accessKeyId: string,
  path?: string,
  clock: () => number = Date.now,
): Promise<DatabaseServer> {
  const server = dynalite({ createTableMs: 0, ...(path && { path }) });
  // dynalite itself accepts any credentials, and requests from any web page.
  const answers = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    const refusal = refusalOf(request.headers, accessKeyId);
    if (refusal !== undefined) {
      const body = JSON.stringify({ __type: 'AccessDeniedException', message: refusal });
      response.writeHead(403, { 'content-type': 'application/x-amz-json-1.0', connection: 'close' }).end(body);
      return;
    }
    // Node's own date lags behind while the process is busy.
    response.setHeader('date', new Date(clock()).toUTCString());
    for (const answer of answers) answer.call(server, request, response);
    // If a client disconnects while it sends, dynalite throws, which would end the process.
    request.removeAllListeners('error').on('error', () => {});
  });
  const { url, close } = await listen(server);
  return { endpoint: url, close };
}
