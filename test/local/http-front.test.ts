import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MAX_BODY_BYTES } from '../../lib/state/http/function-url.ts';
import { startHttpFront } from '../../local/http-front.ts';
import type { Listening } from '../../local/listen.ts';

let front: Listening;
let bodies: (string | undefined)[];
let failures: unknown[];
beforeEach(async () => {
  bodies = [];
  failures = [];
  const take = async ({ body }: { body?: string | undefined }) => {
    bodies.push(body);
    if (body === 'fail') throw new Error('no way');
    return { statusCode: 202 };
  };
  front = await startHttpFront(0, { 'POST /github': take }, (error) => failures.push(error));
});
afterEach(() => front.close());

const port = () => Number(new URL(front.url).port);
const post = (body: string) =>
  fetch(`http://127.0.0.1:${port()}/github`, { method: 'POST', headers: { 'content-type': 'text/plain' }, body });

it('the server continues after an aborted upload', async () => {
  const socket = connect(port(), '127.0.0.1');
  socket.write('POST /github HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nhalf of i');
  // When the server answers another request, it has read the beginning of the first.
  await post('another');
  socket.destroy();
  expect((await post('whole')).status).toBe(202);
  expect({ bodies, failures }).toEqual({ bodies: ['another', 'whole'], failures: [] });
});

it.each([
  ['with its length', `Content-Length: ${400_000_000}`],
  ['in chunks', 'Transfer-Encoding: chunked'],
])('an upload that is too large, sent %s, is refused before all of it has arrived', async (_, header) => {
  const socket = connect(port(), '127.0.0.1')
    .setEncoding('utf8')
    .on('error', () => {});
  const answered = once(socket, 'data');
  socket.write(`POST /github HTTP/1.1\r\nHost: localhost\r\n${header}\r\n\r\n`);
  const size = 64 * 1024;
  const chunk = header.startsWith('Content') ? 'x'.repeat(size) : `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`;
  for (let bytes = 0; bytes <= MAX_BODY_BYTES && !socket.destroyed; bytes += size) socket.write(chunk);
  expect(String((await answered)[0])).toMatch(/^HTTP\/1\.1 413 /);
  socket.destroy();
  expect(bodies).toEqual([]);
});

it("the server reports a function's error and continues", async () => {
  await expect(post('fail')).rejects.toThrow();
  expect(failures).toMatchObject([{ message: 'no way' }]);
  expect((await post('whole')).status).toBe(202);
});
