import { describe, expect, it } from 'vitest';
import { FifoQueue } from '../../local/fifo-queue.ts';
import { QUEUE, queueStatements } from './queue-statements.ts';

const TIMEOUT_MS = 90_000;

it('the queue accepts a message once in five minutes, and never an old handle', () => {
  let now = 0;
  const queue = new FifoQueue('background.fifo', () => now, { visibilityTimeoutMs: TIMEOUT_MS });
  const first = queue.send('a', 'g', 'same');
  now += 299_999;
  expect(queue.send('a', 'g', 'same')).toEqual(expect.objectContaining({ messageId: first.messageId }));
  now += 1;
  expect(queue.send('a', 'g', 'same').messageId).not.toBe(first.messageId);
  expect(queue.size).toBe(2);
  const early = queue.receive();
  now += TIMEOUT_MS;
  expect(queue.receive()).toMatchObject({ messageId: early?.messageId, receiveCount: 2 });
  queue.delete(early?.receiptHandle ?? '');
  expect(queue.changeVisibility(early?.receiptHandle ?? '', 1)).toBe(false);
  expect(queue.size).toBe(2);
});

it('the queue says when the next of its messages wakes, and not what can be received already', () => {
  let now = 0;
  const queue = new FifoQueue('background.fifo', () => now, { visibilityTimeoutMs: TIMEOUT_MS });
  for (const body of ['a', 'b', 'c']) queue.send(body, body, body);
  expect(queue.nextWakeAt()).toBe(Number.POSITIVE_INFINITY);
  const [a, b] = [queue.receive(), queue.receive(), queue.receive()];
  queue.changeVisibility(b?.receiptHandle ?? '', 5);
  expect(queue.nextWakeAt()).toBe(5_000);
  now = 5_000;
  expect(queue.nextWakeAt()).toBe(TIMEOUT_MS);
  queue.delete(a?.receiptHandle ?? '');
  expect(queue.size).toBe(2);
});

async function startServer() {
  return {
    async createQueue() {
      let now = 0;
      const queue = new FifoQueue('tested.fifo', () => now, QUEUE);
      return {
        name: queue.name,
        send: async (body: string, group: string, id: string) => void queue.send(body, group, id),
        receive: async () => queue.receive(),
        delete: async (handle: string) => queue.delete(handle),
        changeVisibility: async (handle: string, seconds: number) => queue.changeVisibility(handle, seconds),
        async pass(seconds: number) {
          now += seconds * 1_000;
        },
        deadLetters: async () => [],
      };
    },
    close: async () => {},
  };
}

describe('the queue of npm start', () => queueStatements(startServer, ['has no dead letters']));
