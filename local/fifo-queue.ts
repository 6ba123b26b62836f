import { randomUUID } from 'node:crypto';

const DEDUPLICATION_MS = 5 * 60_000;

/** A received message. */
export interface ReceivedMessage {
  messageId: string;
  receiptHandle: string;
  body: string;
  receiveCount: number;
  /** Epoch milliseconds. */
  sentAt: number;
}

interface StoredMessage extends ReceivedMessage {
  group: string;
  /** Epoch milliseconds; 0 until it is received, so that a clock that is set back hides no new message. */
  visibleAt: number;
}

/**
 * One FIFO queue of SQS, in memory. The table knows which jobs are under way, so nothing is lost with the queue.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html
 */
export class FifoQueue {
  readonly name: string;
  readonly #clock: () => number;
  readonly #visibilityTimeoutMs: number;
  readonly #changed: () => void;
  /** In their order. */
  readonly #messages: StoredMessage[] = [];
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
    this.#forgetSent(now);
    // An id belongs to one group, as in infra/job-queue.ts.
    const id = `${deduplicationId} ${group}`;
    const earlier = this.#sent.get(id);
    if (earlier) return earlier;
    const messageId = randomUUID();
    this.#sent.set(id, { messageId, at: now });
    this.#messages.push({
      messageId,
      receiptHandle: randomUUID(),
      body,
      receiveCount: 0,
      sentAt: now,
      group,
      visibleAt: 0,
    });
    this.#changed();
    return { messageId };
  }

  /** The first message that can be received. */
  receive(): ReceivedMessage | undefined {
    const now = this.#clock();
    const message = this.#first(({ visibleAt }) => visibleAt <= now);
    if (!message) return undefined;
    message.receiveCount += 1;
    message.receiptHandle = randomUUID();
    message.visibleAt = now + this.#visibilityTimeoutMs;
    return { ...message };
  }

  delete(receiptHandle: string): void {
    const index = this.#messages.findIndex((message) => message.receiptHandle === receiptHandle);
    if (index >= 0) this.#messages.splice(index, 1);
    this.#changed();
  }

  /** @returns false if the handle is not the message's latest */
  changeVisibility(receiptHandle: string, seconds: number): boolean {
    const message = this.#messages.find((message) => message.receiptHandle === receiptHandle);
    if (!message) return false;
    message.visibleAt = this.#clock() + seconds * 1000;
    this.#changed();
    return true;
  }

  /** When the next sleeping message wakes, in epoch milliseconds; infinity if none sleeps. */
  nextWakeAt(): number {
    const now = this.#clock();
    let next = Number.POSITIVE_INFINITY;
    this.#first(({ visibleAt }) => {
      if (visibleAt > now) next = Math.min(next, visibleAt);
      return false;
    });
    return next;
  }

  /** A message that sleeps or is being processed blocks its group, so only the first of each can be wanted. */
  #first(isWanted: (message: StoredMessage) => boolean): StoredMessage | undefined {
    const seen = new Set<string>();
    return this.#messages.find((message) => {
      if (seen.has(message.group)) return false;
      seen.add(message.group);
      return isWanted(message);
    });
  }

  #forgetSent(now: number): void {
    for (const [id, { at }] of this.#sent) {
      if (at > now - DEDUPLICATION_MS) return;
      this.#sent.delete(id);
    }
  }
}
