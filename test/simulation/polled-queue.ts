import { AsyncLocalStorage } from 'node:async_hooks';
import { FifoQueue, type ReceivedMessage } from '../../local/fifo-queue.ts';
import { QUEUE } from '../../local/stack.ts';
import type { VirtualTime } from '../service/budget/virtual-time.ts';

/**
 * The number of successive invocations of the worker that led to the current one. On AWS, the SDK passes it on in
 * `X-Amzn-Trace-Id`, and SQS with the message.
 * https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
 */
export const lineage = new AsyncLocalStorage<number>();

/** The time between two polls, and until a message reaches a waiting poller, which takes milliseconds. */
const POLL_MS = [5, 30] as const;
/** The most by which a message wakes late. */
const LATE_MS = 3_000;

/**
 * The queue in virtual time, with waiting pollers. Any group that is not held back can be next; older messages are
 * likelier.
 */
export class PolledQueue extends FifoQueue {
  receives = 0;
  readonly #time: VirtualTime;
  readonly #random: () => number;
  readonly #idle: (() => void)[];
  /** The lineage in each message's AWSTraceHeader. */
  readonly #rounds = new Map<string, number>();

  constructor(name: string, time: VirtualTime, random: () => number) {
    const idle: (() => void)[] = [];
    super(name, () => time.now, {
      ...QUEUE,
      choose: (count) => Math.floor(count * random() ** 3),
      changed: () => idle.splice(Math.floor(random() * idle.length), 1)[0]?.(),
      sleeps: (ms) => {
        const really = ms === 0 ? 0 : ms + random() * LATE_MS;
        void time.sleep(really).then(() => this.wake());
        return really;
      },
    });
    this.#time = time;
    this.#random = random;
    this.#idle = idle;
  }

  override send(body: string, group: string, deduplicationId: string): { messageId: string } {
    const sent = super.send(body, group, deduplicationId);
    if (!this.#rounds.has(sent.messageId)) this.#rounds.set(sent.messageId, lineage.getStore() ?? 0);
    return sent;
  }

  /** Waits for a message. `rounds` is its lineage. */
  async next(): Promise<ReceivedMessage & { rounds: number }> {
    const [from, to] = POLL_MS;
    for (;;) {
      await this.#time.sleep(from + this.#random() * (to - from));
      const message = this.receive();
      if (message) {
        this.receives += 1;
        return { ...message, rounds: this.#rounds.get(message.messageId) ?? 0 };
      }
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
  }

  moveToDeadLetters({ receiptHandle, body }: ReceivedMessage): void {
    this.deadLetters.push(body);
    this.delete(receiptHandle);
  }
}
