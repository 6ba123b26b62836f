import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from 'vitest';
import { keys } from '../../lib/state/table/keys.ts';
import { issueEvent } from '../issue-events.ts';
import { startRelay, type TestRelay } from '../relay.ts';

let relay: TestRelay;
afterEach(() => relay.close());

it('a creation answered with 2xx is done, even if moving the waiting line fails', async () => {
  let fails = false;
  let failed = 0;
  relay = await startRelay({
    async tableThrough(endpoint) {
      // DynamoDB refuses one write of the budget: the one by which the waiting line is moved on.
      const server = createServer(async (incoming, outgoing) => {
        const body = await text(incoming);
        const moves = body.includes(`"lines":{"M":{"main":{"L":[{"N":"${Number(relay?.clock.now) + 1_000}"}`);
        if (fails && failed === 0 && moves) {
          failed++;
          outgoing.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
          outgoing.end(
            JSON.stringify({ __type: 'com.amazonaws.dynamodb.v20120810#ItemCollectionSizeLimitExceededException' }),
          );
          return;
        }
        const { host, ...headers } = incoming.headers as Record<string, string>;
        const forwarded = request(new URL(incoming.url ?? '/', endpoint), {
          method: incoming.method,
          headers: { ...headers, host: new URL(endpoint).host },
        });
        forwarded.end(body);
        const [answer] = await once(forwarded, 'response');
        outgoing.writeHead(answer.statusCode, answer.headers);
        answer.pipe(outgoing);
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      server.unref();
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
  });
  const before = relay.sandbox.data.defects.length;
  relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival', operation: '/defects/create' });
  for (let id = 1; id <= 4; id++) await relay.post('issues', issueEvent('opened', { id }));
  await relay.work();
  expect(await relay.stores.table.get(keys.breaker('main'))).toMatchObject({ lined: ['defects/create'] });
  relay.sandbox.clearFaults();
  fails = true;
  const runOnce = async () => {
    await relay.work();
    relay.clock.now += 5_000;
  };
  for (let i = 0; i < 120 && failed === 0; i++) {
    await runOnce();
  }
  for (let i = 0; i < 240; i++) {
    await runOnce();
    if (i % 12 === 11) await relay.sweep();
  }
  expect(failed).toBe(1);
  const bugs = relay.log.filter(({ message }) => String(message).includes('failed unexpectedly'));
  expect(bugs).toEqual([]);
  expect(relay.sandbox.data.defects.length - before).toBe(4);
}, 60_000);
