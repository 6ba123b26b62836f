import { randomUUID } from 'node:crypto';
import { Heap } from './heap.ts';

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
  /** Its place in the queue. */
  place: number;
  /** Epoch milliseconds; undefined while it can be received. */
  visibleAt?: number | undefined;
}

/** When the first message of a group may be received, as known when this entry was made. */
interface Wake {
  message: StoredMessage;
  at: number;
}

/**
 * One FIFO queue of SQS, in memory. The table knows which jobs are under way, so nothing is lost with the queue. The
 * cost of an action does not grow with the number of messages.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html
 */
export class FifoQueue {
  readonly name: string;
  readonly #clock: () => number;
  readonly #visibilityTimeoutMs: number;
  readonly #changed: () => void;
  /**
   * Only the first message of a group can be received. A message that sleeps or is being processed blocks its group.
   */
  readonly #groups = new Map<string, StoredMessage[]>();
  readonly #byHandle = new Map<string, StoredMessage>();
  /**
   * The first messages of groups, split into those that can and those that cannot yet be received. Some entries are out
   * of date.
   */
  readonly #ready = new Heap<StoredMessage>((a, b) => a.place - b.place);
  readonly #asleep = new Heap<Wake>((a, b) => a.at - b.at);
  readonly #sent = new Map<string, { messageId: string; at: number }>();
  #size = 0;
  #places = 0;

  /** @param changed is called whenever a message may have become receivable */
  constructor(name: string, clock: () => number, options: { visibilityTimeoutMs: number; changed?: () => void }) {
    this.name = name;
    this.#clock = clock;
    this.#visibilityTimeoutMs = options.visibilityTimeoutMs;
    this.#changed = options.changed ?? (() => {});
  }

  get size(): number {
    return this.#size;
  }

  send(body: string, group: string, deduplicationId: string): { messageId: string } {
    const now = this.#clock();
    this.#forgetSent(now);
    // As infra/job-queue.ts has it, an id is that of one group.
    const id = `${deduplicationId} ${group}`;
    const earlier = this.#sent.get(id);
    if (earlier) return earlier;
    const messageId = randomUUID();
    this.#sent.set(id, { messageId, at: now });
    const received = { messageId, receiptHandle: '', body, receiveCount: 0, sentAt: now };
    const message = { ...received, group, place: this.#places++ };
    const waiting = this.#groups.get(group);
    if (waiting) waiting.push(message);
    else {
      this.#groups.set(group, [message]);
      this.#ready.push(message);
    }
    this.#size += 1;
    this.#changed();
    return { messageId };
  }

  /** The first message that can be received. */
  receive(): ReceivedMessage | undefined {
    this.#wake();
    for (let message = this.#ready.pop(); message; message = this.#ready.pop()) {
      if (!this.#isFirst(message) || message.visibleAt !== undefined) continue;
      this.#byHandle.delete(message.receiptHandle);
      message.receiveCount += 1;
      message.receiptHandle = randomUUID();
      this.#byHandle.set(message.receiptHandle, message);
      this.#sleep(message, this.#clock() + this.#visibilityTimeoutMs);
      return { ...message };
    }
    return undefined;
  }

  delete(receiptHandle: string): void {
    const message = this.#byHandle.get(receiptHandle);
    if (message) {
      this.#byHandle.delete(receiptHandle);
      this.#size -= 1;
      const waiting = this.#groups.get(message.group) ?? [];
      waiting.shift();
      const [next] = waiting;
      if (next) this.#ready.push(next);
      else this.#groups.delete(message.group);
    }
    this.#changed();
  }

  /** @returns false if the handle is not the message's latest */
  changeVisibility(receiptHandle: string, seconds: number): boolean {
    const message = this.#byHandle.get(receiptHandle);
    if (!message) return false;
    this.#sleep(message, this.#clock() + seconds * 1000);
    this.#changed();
    return true;
  }

  /** When the next sleeping message wakes, in epoch milliseconds; infinity if none sleeps. */
  nextWakeAt(): number {
    this.#wake();
    return this.#nextWake()?.at ?? Number.POSITIVE_INFINITY;
  }

  #sleep(message: StoredMessage, until: number): void {
    message.visibleAt = until;
    this.#asleep.push({ message, at: until });
  }

  /** Makes messages receivable that have slept long enough. */
  #wake(): void {
    const now = this.#clock();
    for (let wake = this.#nextWake(); wake && wake.at <= now; wake = this.#nextWake()) {
      this.#asleep.pop();
      wake.message.visibleAt = undefined;
      this.#ready.push(wake.message);
    }
  }

  #isFirst(message: StoredMessage): boolean {
    return this.#groups.get(message.group)?.[0] === message;
  }

  /** The next wake-up that is still valid. */
  #nextWake(): Wake | undefined {
    for (let wake = this.#asleep.first(); wake; wake = this.#asleep.first()) {
      if (this.#isFirst(wake.message) && wake.message.visibleAt === wake.at) return wake;
      this.#asleep.pop();
    }
    return undefined;
  }

  #forgetSent(now: number): void {
    for (const [id, { at }] of this.#sent) {
      if (at > now - DEDUPLICATION_MS) return;
      this.#sent.delete(id);
    }
  }
}
