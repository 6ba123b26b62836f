import { describe, expect, it } from 'vitest';
import { FifoQueue } from '../../local/fifo-queue.ts';
import { QUEUE, queueStatements } from './queue-statements.ts';

it('the queue accepts a message once in five minutes', () => {
  let now = 0;
  const queue = new FifoQueue('background.fifo', () => now, QUEUE);
  queue.send('a', 'g', 'same');
  now += 299_999;
  queue.send('a', 'g', 'same');
  expect(queue.size).toBe(1);
  now += 1;
  queue.send('a', 'g', 'same');
  expect(queue.size).toBe(2);
});

const startServer = (choose?: (count: number) => number) => async () => {
  return {
    async createQueue() {
      let now = 0;
      const queue = new FifoQueue('tested.fifo', () => now, { ...QUEUE, ...(choose && { choose }) });
      return {
        name: queue.name,
        send: async (body: string, group: string, id: string) => void queue.send(body, group, id),
        receive: async () => queue.receive(),
        delete: async (handle: string) => queue.delete(handle),
        changeVisibility: async (handle: string, seconds: number) => queue.changeVisibility(handle, seconds),
        async pass(seconds: number) {
          now += seconds * 1_000;
        },
        deadLetters: async () => queue.deadLetters,
      };
    },
    close: async () => {},
  };
};

describe('the queue', () => queueStatements(startServer(), []));
describe('the queue with groups in any order', () =>
  queueStatements(
    startServer((count) => Math.floor(count * Math.random())),
    [],
  ));
