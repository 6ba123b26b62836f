import { describe } from 'vitest';
import { QUEUE, queueStatements } from '../local/queue-statements.ts';
import { VirtualTime } from '../service/budget/virtual-time.ts';
import { FifoQueueModel } from './fifo-queue-model.ts';

async function startServer() {
  return {
    async createQueue() {
      const time = new VirtualTime(0);
      const queue = new FifoQueueModel('tested.fifo', { ...QUEUE, pollMs: [0, 0], lateMs: 0 }, time, Math.random);
      return {
        name: queue.name,
        send: async (body: string, group: string, id: string) => queue.send(body, group, id),
        receive: async () => queue.take(),
        delete: async (handle: string) => queue.delete(handle),
        async changeVisibility(handle: string, seconds: number) {
          try {
            queue.changeVisibility(handle, seconds);
          } catch {
            return false;
          }
          await time.passUntil(time.now);
          return true;
        },
        pass: (seconds: number) => time.passUntil(time.now + seconds * 1_000),
        deadLetters: async () => queue.deadLetters,
      };
    },
    close: async () => {},
  };
}

describe('the model of the simulation', () => queueStatements(startServer, []));
