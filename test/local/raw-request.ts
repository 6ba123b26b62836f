import { type IncomingHttpHeaders, type RequestOptions, request } from 'node:http';

/** Sends a request with exactly this path and these headers. `fetch` does not allow Host and Origin. */
export function rawRequest(
  url: string,
  { body = '', ...options }: RequestOptions & { body?: string | undefined },
): Promise<{ status: number | undefined; body: string; headers: IncomingHttpHeaders }> {
  return new Promise((resolve, reject) => {
    request(url, { method: 'POST', ...options }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      answer.once('end', () => resolve({ status: answer.statusCode, body: text, headers: answer.headers }));
    })
      .once('error', reject)
      .end(body);
  });
}
