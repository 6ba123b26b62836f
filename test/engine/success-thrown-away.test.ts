import { DynamoDBClient, ItemCollectionSizeLimitExceededException } from '@aws-sdk/client-dynamodb';
import { expect, it, onTestFinished, vi } from 'vitest';
import { keys } from '../../lib/state/table/keys.ts';
import { issueEvent } from '../issue-events.ts';
import { startRelay, type TestRelay } from '../relay.ts';

let relay: TestRelay;

it('a creation answered with 2xx is done, even if moving the waiting line fails', async () => {
  let fails = false;
  let failed = 0;
  relay = await startRelay();
  const { send } = DynamoDBClient.prototype;
  // DynamoDB refuses the write of the budget that moves the waiting line.
  const sending = vi.spyOn(DynamoDBClient.prototype, 'send').mockImplementation(function (
    this: DynamoDBClient,
    ...sent: unknown[]
  ) {
    const moves = `"lines":{"M":{"main":{"L":[{"N":"${relay.clock.now + 1_000}"}`;
    if (!fails || failed > 0 || !JSON.stringify(sent[0]).includes(moves)) return Reflect.apply(send, this, sent);
    failed++;
    throw new ItemCollectionSizeLimitExceededException({ message: 'refused', $metadata: {} });
  });
  onTestFinished(() => sending.mockRestore());
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
