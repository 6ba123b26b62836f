import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliver } from '../../local/event-source.ts';
import type { ReceivedMessage } from '../../local/fifo-queue.ts';

/** An empty queue with {@link QUEUE}, and a way to let time pass for it. */
export interface TestedQueue {
  name: string;
  send(body: string, group: string, deduplicationId: string): Promise<void>;
  /** Receives a message, if there is one. */
  receive(): Promise<Pick<ReceivedMessage, 'messageId' | 'body' | 'receiptHandle' | 'receiveCount'> | undefined>;
  delete(receiptHandle: string): Promise<void>;
  /** @returns false if the queue refuses it */
  changeVisibility(receiptHandle: string, seconds: number): Promise<boolean>;
  pass(seconds: number): Promise<void>;
  deadLetters(): Promise<string[]>;
}

export interface QueueServer {
  createQueue(): Promise<TestedQueue>;
  close(): Promise<void>;
}

/** The values of infra/job-queue.ts, but shorter. */
export const QUEUE = { visibilityTimeoutMs: 2_000, maxReceiveCount: 3 };
const TIMEOUT_S = QUEUE.visibilityTimeoutMs / 1_000;

/** Known differences of a server from AWS. A test then expects the server's behavior. */
export type Difference = 'deduplicates over all groups' | 'receives nothing while it sets a message aside';

/** The relay's requirements of an SQS FIFO queue. Every server must meet them, except for its differences. */
export function queueStatements(start: () => Promise<QueueServer>, differences: readonly Difference[]): void {
  let server: QueueServer;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.close());

  const differs = (difference: Difference) => differences.includes(difference);

  /** A queue with messages, each named after its group: `a1` is the first of the group `a`. */
  async function queueOf(...bodies: string[]): Promise<TestedQueue> {
    const queue = await server.createQueue();
    for (const body of bodies) await queue.send(body, body.slice(0, 1), body);
    return queue;
  }

  /** Receives until the queue is empty. */
  async function receiveAll(queue: TestedQueue) {
    const received = [];
    for (let one = await queue.receive(); one; one = await queue.receive()) received.push(one);
    return received;
  }
  const bodiesIn = async (queue: TestedQueue) => (await receiveAll(queue)).map(({ body }) => body).sort();

  async function receive(queue: TestedQueue) {
    const received = await queue.receive();
    if (!received) throw new Error('there is nothing to receive');
    return received;
  }

  it('a message that is not deleted returns after its visibility timeout, before the rest of its group', async () => {
    const queue = await queueOf('a1', 'a2');
    expect(await receive(queue)).toMatchObject({ body: 'a1', receiveCount: 1 });
    await queue.pass(TIMEOUT_S - 1);
    expect(await queue.receive()).toBeUndefined();
    await queue.pass(1.5);
    expect(await receive(queue)).toMatchObject({ body: 'a1', receiveCount: 2 });
  });

  it('a message that is put to sleep returns on time, and its group waits for it', async () => {
    const queue = await queueOf('a1', 'a2', 'b1');
    const [first, second] = await receiveAll(queue);
    const [a, b] = first?.body === 'a1' ? [first, second] : [second, first];
    expect(await queue.changeVisibility(a?.receiptHandle ?? '', TIMEOUT_S + 2)).toBe(true);
    expect(await queue.changeVisibility(b?.receiptHandle ?? '', 0)).toBe(true);
    expect(await bodiesIn(queue)).toEqual(['b1']);
    await queue.pass(TIMEOUT_S + 0.5);
    expect(await bodiesIn(queue)).toEqual(['b1']);
    await queue.pass(2);
    expect(await queue.receive()).toMatchObject({ body: 'a1', receiveCount: 2 });
  });

  it('a message is accepted once, even after it was deleted', async () => {
    const queue = await queueOf('a1', 'a1');
    await queue.delete((await receive(queue)).receiptHandle);
    await queue.send('a1 again', 'a', 'a1');
    await queue.send('a2', 'a', 'a2');
    expect(await bodiesIn(queue)).toEqual(['a2']);
  });

  it('a deduplication id belongs to one group', async () => {
    const queue = await queueOf();
    await queue.send('a1', 'a', 'same');
    await queue.send('b1', 'b', 'same');
    expect(await bodiesIn(queue)).toEqual(differs('deduplicates over all groups') ? ['a1'] : ['a1', 'b1']);
  });

  it('only the last handle of a message is valid', async () => {
    const queue = await queueOf('a1', 'b1');
    const early = await receiveAll(queue);
    await queue.pass(TIMEOUT_S + 0.5);
    expect(await bodiesIn(queue)).toEqual(['a1', 'b1']);
    const [slept, deleted] = early.map(({ receiptHandle }) => receiptHandle);
    expect(await queue.changeVisibility(slept ?? '', 0)).toBe(false);
    await queue.delete(deleted ?? '').catch(() => {});
    await queue.pass(TIMEOUT_S + 0.5);
    expect(await receiveAll(queue)).toHaveLength(2);
  });

  it('a message that is received too often becomes a dead letter, and its group continues', async () => {
    const queue = await queueOf('a1', 'a2');
    for (let count = 1; count <= QUEUE.maxReceiveCount; count++) {
      const { body, receiveCount, receiptHandle } = await receive(queue);
      expect({ body, receiveCount }).toEqual({ body: 'a1', receiveCount: count });
      expect(await queue.deadLetters()).toEqual([]);
      await queue.changeVisibility(receiptHandle, 0);
    }
    if (differs('receives nothing while it sets a message aside')) expect(await queue.receive()).toBeUndefined();
    expect(await receive(queue)).toMatchObject({ body: 'a2' });
    expect(await queue.deadLetters()).toEqual(['a1']);
  });

  it('messages that a worker reports as failed, or throws on, return, and the rest is deleted', async () => {
    const queue = await queueOf('a1', 'b1', 'c1');
    const outcomes: Record<string, (event: SQSEvent) => Promise<SQSBatchResponse>> = {
      a1: async ({ Records }) => ({
        batchItemFailures: Records.map(({ messageId: itemIdentifier }) => ({ itemIdentifier })),
      }),
      b1: async () => ({ batchItemFailures: [] }),
      c1: () => Promise.reject(new Error('the worker broke')),
    };
    for (const message of await receiveAll(queue)) {
      const run = outcomes[message.body];
      if (run) await deliver(queue, { ...message, sentAt: 0 }, run).catch(() => {});
    }
    await queue.pass(TIMEOUT_S + 0.5);
    expect(await bodiesIn(queue)).toEqual(['a1', 'c1']);
  });

  describe('in any sequence of actions', () => {
    const step = fc.oneof(
      fc.record({ what: fc.constant('send' as const), group: fc.constantFrom('a', 'b', 'c') }),
      fc.record({ what: fc.constant('receive' as const) }),
      fc.record({ what: fc.constantFrom('delete' as const, 'wake' as const), index: fc.nat() }),
    );

    it('a message is received if it is the first of its group and none of the group is in flight', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
          const queue = await server.createQueue();
          const groups = new Map<string, string[]>();
          const inHand = new Map<string, { receiptHandle: string; receiveCount: number }>();
          for (const [place, one] of steps.entries()) {
            const chosen = 'index' in one ? [...inHand][one.index % (inHand.size || 1)] : undefined;
            const [body = '', message] = chosen ?? [];
            if (one.what === 'send') {
              const sent = `${one.group}${place}`;
              await queue.send(sent, one.group, sent);
              groups.set(one.group, [...(groups.get(one.group) ?? []), sent]);
            } else if (one.what === 'receive') {
              const free = [...groups.values()].flatMap(([first]) => (first && !inHand.has(first) ? [first] : []));
              const received = await queue.receive();
              if (free.length === 0) expect(received).toBeUndefined();
              else expect(free).toContain(received?.body);
              if (received) inHand.set(received.body, received);
            } else if (message && one.what === 'delete') {
              await queue.delete(message.receiptHandle);
              inHand.delete(body);
              groups.get(body.slice(0, 1))?.shift();
            } else if (message && message.receiveCount < QUEUE.maxReceiveCount) {
              expect(await queue.changeVisibility(message.receiptHandle, 0)).toBe(true);
              inHand.delete(body);
            }
          }
        }),
        { numRuns: 40 },
      );
    });
  });
}
