import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FifoQueue } from '../../local/fifo-queue.ts';
import { QUEUE, queueStatements } from './queue-statements.ts';

const TIMEOUT_MS = 90_000;

interface Message {
  body: string;
  group: string;
  visibleAt: number;
  handle?: string;
}

/** SQS' rules in the plainest form: the first message whose group has none before it. */
function receiveFrom(messages: readonly Message[], now: number): Message | undefined {
  return messages.find(
    (message, index) =>
      message.visibleAt <= now && !messages.slice(0, index).some(({ group }) => group === message.group),
  );
}

it('the queue behaves as SQS does, in any sequence of actions', () => {
  const step = fc.oneof(
    fc.record({ what: fc.constant('send' as const), group: fc.integer({ min: 0, max: 3 }) }),
    fc.record({ what: fc.constantFrom('receive' as const, 'wait' as const) }),
    fc.record({ what: fc.constantFrom('delete' as const, 'sleep' as const), index: fc.nat() }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let now = 0;
      const queue = new FifoQueue('background.fifo', () => now, { visibilityTimeoutMs: TIMEOUT_MS });
      let messages: Message[] = [];
      for (const [place, one] of steps.entries()) {
        const inHand = messages.filter(({ handle }) => handle !== undefined);
        const chosen = 'index' in one ? inHand[one.index % (inHand.length || 1)] : undefined;
        if (one.what === 'send') {
          queue.send(`${place}`, `${one.group}`, `${place}`);
          messages.push({ body: `${place}`, group: `${one.group}`, visibleAt: now });
        } else if (one.what === 'wait') {
          const wakeAt = Math.min(...messages.map(({ visibleAt }) => visibleAt).filter((at) => at > now));
          expect(queue.nextWakeAt()).toBe(wakeAt);
          now = Number.isFinite(wakeAt) ? wakeAt : now;
        } else if (one.what === 'receive') {
          const expected = receiveFrom(messages, now);
          const received = queue.receive();
          expect(received?.body).toBe(expected?.body);
          if (expected && received)
            Object.assign(expected, { handle: received.receiptHandle, visibleAt: now + TIMEOUT_MS });
        } else if (chosen?.handle !== undefined && one.what === 'delete') {
          queue.delete(chosen.handle);
          messages = messages.filter((message) => message !== chosen);
        } else if (chosen?.handle !== undefined) {
          expect(queue.changeVisibility(chosen.handle, place)).toBe(true);
          chosen.visibleAt = now + place * 1000;
        }
        expect(queue.size).toBe(messages.length);
      }
    }),
  );
});

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
