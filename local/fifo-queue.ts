import { randomUUID } from 'node:crypto';

const DEDUPLICATION_MS = 5 * 60_000;

/** A message in the hands of a receiver. */
export interface ReceivedMessage {
  messageId: string;
  receiptHandle: string;
  body: string;
  receiveCount: number;
}

interface StoredMessage extends ReceivedMessage {
  group: string;
  /** Epoch milliseconds. */
  visibleAt: number;
}

/**
 * One FIFO queue of SQS, in memory: the table knows which jobs are under way, so that nothing is lost with it.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html
 */
export class FifoQueue {
  readonly name: string;
  readonly #clock: () => number;
  readonly #visibilityTimeoutMs: number;
  readonly #changed: () => void;
  #messages: StoredMessage[] = [];
  readonly #sent = new Map<string, { messageId: string; at: number }>();

  /** @param changed is called whenever a message may have become receivable */
  constructor(name: string, clock: () => number, options: { visibilityTimeoutMs: number; changed?: () => void }) {
    this.name = name;
    this.#clock = clock;
    this.#visibilityTimeoutMs = options.visibilityTimeoutMs;
    this.#changed = options.changed ?? (() => {});
  }

  get size(): number {
    return this.#messages.length;
  }

  send(body: string, group: string, deduplicationId: string): { messageId: string } {
    const now = this.#clock();
    for (const [id, { at }] of this.#sent) if (at <= now - DEDUPLICATION_MS) this.#sent.delete(id);
    const earlier = this.#sent.get(deduplicationId);
    if (earlier) return earlier;
    const messageId = randomUUID();
    this.#sent.set(deduplicationId, { messageId, at: now });
    this.#messages.push({ messageId, receiptHandle: '', body, group, receiveCount: 0, visibleAt: now });
    this.#changed();
    return { messageId };
  }

  /** The first message whose group has none before it; a message that sleeps or is in hand holds its group back. */
  receive(): ReceivedMessage | undefined {
    const now = this.#clock();
    const held = new Set<string>();
    for (const message of this.#messages) {
      if (held.has(message.group)) continue;
      if (message.visibleAt > now) {
        held.add(message.group);
        continue;
      }
      message.visibleAt = now + this.#visibilityTimeoutMs;
      message.receiveCount += 1;
      message.receiptHandle = randomUUID();
      return { ...message };
    }
    return undefined;
  }

  delete(receiptHandle: string): void {
    this.#messages = this.#messages.filter((message) => message.receiptHandle !== receiptHandle);
    this.#changed();
  }

  /** @returns false for a handle that is not the message's last */
  changeVisibility(receiptHandle: string, seconds: number): boolean {
    const message = this.#messages.find((message) => message.receiptHandle === receiptHandle);
    if (!message) return false;
    message.visibleAt = this.#clock() + seconds * 1000;
    this.#changed();
    return true;
  }

  /** When the next sleeping message wakes, in epoch milliseconds; infinity where none sleeps. */
  nextWakeAt(): number {
    const now = this.#clock();
    return Math.min(...this.#messages.map((message) => message.visibleAt).filter((at) => at > now));
  }
}
