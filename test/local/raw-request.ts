import { request } from 'node:http';

/** Sends a request with exactly these headers, which `fetch` does not for Host and Origin. */
export function rawRequest(
  url: string,
  { method = 'POST', headers = {}, body = '' }: { method?: string; headers?: Record<string, string>; body?: string },
): Promise<{ status: number | undefined; body: string; headers: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    request(url, { method, headers }, (answer) => {
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
