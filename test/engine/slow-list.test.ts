import { DynamoDBClient, ScanCommand, type UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, it, onTestFinished } from 'vitest';
import { issueEvent } from '../issue-events.ts';
import { startRelay, type TestRelay } from '../relay.ts';

const MINUTE = 60_000;
let relay: TestRelay;

it('a search in a slow list ends', async () => {
  let slow = false;
  let lists = 0;
  relay = await startRelay({
    runtime: {
      async fetch(...request) {
        if (slow && String(request[0]).includes('/defects/list')) {
          relay.clock.now += 6_000;
          // Otherwise, it would never end.
          if (++lists >= 400) slow = false;
        }
        return globalThis.fetch(...request);
      },
    },
  });
  const [one = expect.fail('there is no defect')] = relay.sandbox.data.defects;
  const many = Array.from({ length: 1_500 }, (_, id) => ({ ...one, defect_id: `x${id}`, description: 'old' }));
  relay.sandbox.data.defects.unshift(...many);
  slow = true;
  relay.sandbox.setFault({ kind: 'cut', when: 'before work', operation: '/defects/create', times: 1 });
  relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival', operation: '/defects/create', skip: 1 });
  const started = relay.clock.now;
  await relay.post('issues', issueEvent('opened'));
  const sixHours = started + 6 * 60 * MINUTE;
  while (relay.clock.now < sixHours) {
    await relay.work();
    relay.clock.now += 5_000;
    await relay.sweep();
    if ((await relay.jobs()).every(({ status }) => status === 'parked' || status === 'succeeded')) break;
  }
  // Three searches of ten pages.
  expect(lists).toBeLessThanOrEqual(40);
}, 120_000);

it.each([false, true])(
  'a search whose first page gets a 429 waits for the budget, and its item expires; the claim cannot be released: %s',
  async (fails) => {
    relay = await startRelay();
    const { prototype } = DynamoDBClient;
    const { send } = prototype;
    onTestFinished(() => void Object.defineProperty(prototype, 'send', { value: send }));
    Object.defineProperty(prototype, 'send', {
      async value(this: DynamoDBClient, command: UpdateItemCommand) {
        if (fails && command.input.UpdateExpression === 'REMOVE #readerUntil') throw new Error('no answer');
        return Reflect.apply(send, this, [command]);
      },
    });
    relay.sandbox.setFault({ kind: 'cut', when: 'after work', operation: '/defects/create', times: 1 });
    relay.sandbox.setFault({ kind: 'rate-limited', operation: '/defects/list', retryAfterSeconds: 60 });
    await relay.post('issues', issueEvent('opened'));
    await relay.work();
    await relay.pass(36_000, 12_000);
    const TableName = relay.stack.variables.TABLE_NAME;
    const { Items = [] } = await Reflect.apply(send, new DynamoDBClient({}), [new ScanCommand({ TableName })]);
    const readings = Items.filter(({ pk }: { pk: { S: string } }) => pk.S.startsWith('reading#'));
    expect(readings).toEqual([expect.objectContaining({ expiresAt: { N: expect.any(String) } })]);
    const [job] = await relay.jobs();
    expect(job).toMatchObject({ status: 'waiting', attempts: 0 });
    expect(job?.waits?.newest.map((wait) => wait.for)).toContain('budget');
  },
);
