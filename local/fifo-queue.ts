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
  sequence: number;
  group: string;
  /** When it can be received again. Epoch milliseconds. */
  visibleAt: number;
}

export interface QueueOptions {
  visibilityTimeoutMs: number;
  /** A message that was received more often becomes a dead letter. */
  maxReceiveCount: number;
  /** Called whenever a message can be received. */
  changed?: () => void;
  /** Which one of so many messages is received, counted from the oldest; by default the oldest. */
  choose?: (count: number) => number;
  /** How long a message really sleeps; by default exactly so long. */
  sleeps?: (ms: number) => number;
}

/**
 * One FIFO queue of SQS, in memory. The table knows which jobs are under way, so nothing is lost with the queue. A message
 * that sleeps or is in hand holds its group back. SQS gives an order within a group only.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html
 */
export class FifoQueue {
  readonly name: string;
  readonly deadLetters: string[] = [];
  readonly #clock: () => number;
  readonly #options: Required<QueueOptions>;
  readonly #groups = new Map<string, StoredMessage[]>();
  /** The messages that can be received, the oldest first. */
  readonly #receivable: StoredMessage[] = [];
  /** The messages that are in hand or asleep, by their handles. */
  readonly #inFlight = new Map<string, StoredMessage>();
  /** No message wakes before. */
  #nextWakeAt = Number.POSITIVE_INFINITY;
  /** Deduplication ids, each of one group, in the order in which they were sent. */
  readonly #sent = new Map<string, { messageId: string; at: number }>();
  #sequence = 0;

  constructor(name: string, clock: () => number, options: QueueOptions) {
    this.name = name;
    this.#clock = clock;
    this.#options = { changed: () => {}, choose: () => 0, sleeps: (ms) => ms, ...options };
  }

  get size(): number {
    return [...this.#groups.values()].reduce((sum, { length }) => sum + length, 0);
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
    const sequence = this.#sequence++;
    const counts = { receiveCount: 0, sentAt: now, sequence, visibleAt: now };
    const message: StoredMessage = { messageId, receiptHandle: '', body, group, ...counts };
    const messages = this.#groups.get(group) ?? [];
    messages.push(message);
    this.#groups.set(group, messages);
    if (messages.length === 1) this.#offer(message);
    return { messageId };
  }

  /** A message that can be received. */
  receive(): ReceivedMessage | undefined {
    this.wake();
    for (;;) {
      const [message] = this.#receivable.splice(this.#options.choose(this.#receivable.length), 1);
      if (!message) return undefined;
      message.receiveCount += 1;
      message.receiptHandle = randomUUID();
      if (message.receiveCount <= this.#options.maxReceiveCount) {
        this.#inFlight.set(message.receiptHandle, message);
        this.#sleep(message, this.#options.visibilityTimeoutMs);
        return { ...message };
      }
      this.deadLetters.push(message.body);
      this.#remove(message);
    }
  }

  /** A handle that is not the message's last, or has run out, deletes nothing. */
  delete(receiptHandle: string): void {
    this.wake();
    const message = this.#inFlight.get(receiptHandle);
    if (message) this.#remove(message);
  }

  /** @returns false if the handle is not the message's last, or has run out */
  changeVisibility(receiptHandle: string, seconds: number): boolean {
    this.wake();
    const message = this.#inFlight.get(receiptHandle);
    if (!message) return false;
    this.#sleep(message, seconds * 1_000);
    this.wake();
    return true;
  }

  /** When the next sleeping message wakes, in epoch milliseconds; infinity if none sleeps. */
  nextWakeAt(): number {
    this.wake();
    return Math.min(...[...this.#inFlight.values()].map(({ visibleAt }) => visibleAt));
  }

  /** How long the oldest message has been here, in milliseconds; 0 without any. */
  oldestMs(): number {
    const now = this.#clock();
    return now - Math.min(now, ...[...this.#groups.values()].flatMap(([first]) => first?.sentAt ?? []));
  }

  /** Lets those messages be received that have slept long enough. */
  wake(): void {
    const now = this.#clock();
    if (now < this.#nextWakeAt) return;
    const due = [...this.#inFlight.values()].filter(({ visibleAt }) => visibleAt <= now);
    for (const { receiptHandle } of due) this.#inFlight.delete(receiptHandle);
    this.#nextWakeAt = Math.min(...[...this.#inFlight.values()].map(({ visibleAt }) => visibleAt));
    for (const message of due) this.#offer(message);
  }

  #sleep(message: StoredMessage, ms: number): void {
    message.visibleAt = this.#clock() + this.#options.sleeps(ms);
    this.#nextWakeAt = Math.min(this.#nextWakeAt, message.visibleAt);
  }

  #remove({ receiptHandle, group }: StoredMessage): void {
    this.#inFlight.delete(receiptHandle);
    const messages = this.#groups.get(group) ?? [];
    messages.shift();
    const [next] = messages;
    if (next) this.#offer(next);
    else this.#groups.delete(group);
  }

  #offer(message: StoredMessage): void {
    const place = this.#receivable.findLastIndex(({ sequence }) => sequence < message.sequence);
    this.#receivable.splice(place + 1, 0, message);
    this.#options.changed();
  }

  #forgetSent(now: number): void {
    for (const [id, { at }] of this.#sent) {
      if (at > now - DEDUPLICATION_MS) return;
      this.#sent.delete(id);
    }
  }
}
