import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { listen } from '../local/listen.ts';

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'",
  'referrer-policy': 'no-referrer',
};

/**
 * Starts a server on this machine that waits for the browser to return from the service (RFC 8252, section 7.3).
 *
 * @param path of the callback, which no other service uses (RFC 9700, 4.4)
 * @throws {Error} if the port is taken
 */
export async function listenForCallback(port: number, path: string) {
  let wanted: { state: string; take: (query: URLSearchParams) => void } | undefined;
  const pages = new Map<string, string>();
  const server = createServer((request, response) => {
    // `new URL` throws for a path such as `//`, and must not end the command.
    const [at = '', search = ''] = (request.url ?? '').split('?', 2);
    const query = new URLSearchParams(search);
    const served = request.method === 'GET' ? pages.get(at) : undefined;
    if (served !== undefined) {
      response.writeHead(200, { ...HEADERS, connection: 'close' }).end(served);
      return;
    }
    const isOurs = request.method === 'GET' && at === path && query.get('state') === wanted?.state;
    response.writeHead(isOurs ? 200 : 404, { ...HEADERS, connection: 'close' });
    response.end(
      isOurs ? page('Go back to the terminal. You can close this window.') : page('This page does not exist.'),
    );
    if (isOurs) wanted?.take(query);
  });
  const { url, close } = await listen(server, port);
  return {
    redirectUri: url + path,
    /**
     * Serves a page for a browser on this machine.
     * @returns its address, which cannot be guessed
     */
    serve(html: string): string {
      const path = `/${randomBytes(24).toString('base64url')}`;
      pages.set(path, html);
      return url + path;
    },
    /**
     * Returns the query of the first callback with this state. Others, such as forged ones, are refused.
     * @param late what the person can do after the timeout
     * @throws {Error} if none arrives within `timeoutMs`
     */
    callback: (state: string, timeoutMs: number, late = 'run npx partner-relay mcp login again') =>
      new Promise<URLSearchParams>((resolve, reject) => {
        const minutes = Math.round(timeoutMs / 60_000);
        const why = `the browser did not come back within ${minutes} minutes; ${late}`;
        const timer = setTimeout(() => reject(new Error(why)), timeoutMs);
        const take = (query: URLSearchParams) => {
          clearTimeout(timer);
          resolve(query);
        };
        wanted = { state, take };
      }),
    close,
  };
}

const page = (text: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Partner Relay</title><p>${text}</p></html>\n`;
