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
  /** When the message can be received again, in epoch milliseconds. */
  visibleAt: number;
}

export interface QueueOptions {
  visibilityTimeoutMs: number;
  /** A message that was received more often becomes a dead letter. */
  maxReceiveCount: number;
  /** Called whenever a message can be received. */
  changed?: () => void;
  /** Chooses one of `count` messages to receive, counted from the oldest; by default the oldest. */
  choose?: (count: number) => number;
  /** How long a message really sleeps, in milliseconds; by default the given time. */
  sleeps?: (ms: number) => number;
}

/**
 * One FIFO queue of SQS, in memory. The table has the jobs under way, so nothing is lost with the queue. A message that
 * is in flight or asleep holds its group back. SQS orders messages only within a group.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html
 */
export class FifoQueue {
  readonly name: string;
  readonly deadLetters: string[] = [];
  readonly #clock: () => number;
  readonly #options: Required<QueueOptions>;
  readonly #groups = new Map<string, StoredMessage[]>();
  /** The messages that can be received, oldest first. */
  readonly #receivable: StoredMessage[] = [];
  /** The messages in flight or asleep, by receipt handle. */
  readonly #inFlight = new Map<string, StoredMessage>();
  /** The earliest time at which a message may wake. */
  #nextWakeAt = Number.POSITIVE_INFINITY;
  /** Deduplication ids, per group, in the order in which they were sent. */
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
    // Ids are per group, as in infra/job-queue.ts.
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

  /** Receives a message, if there is one. */
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

  /** Deletes a message. An older or expired handle deletes nothing. */
  delete(receiptHandle: string): void {
    this.wake();
    const message = this.#inFlight.get(receiptHandle);
    if (message) this.#remove(message);
  }

  /** Changes how long a message stays invisible. @returns false for an older or expired handle */
  changeVisibility(receiptHandle: string, seconds: number): boolean {
    this.wake();
    const message = this.#inFlight.get(receiptHandle);
    if (!message) return false;
    this.#sleep(message, seconds * 1_000);
    this.wake();
    return true;
  }

  /** When the next sleeping message wakes, in epoch milliseconds; infinity if no message sleeps. */
  nextWakeAt(): number {
    this.wake();
    return Math.min(...[...this.#inFlight.values()].map(({ visibleAt }) => visibleAt));
  }

  /** The age of the oldest message, in milliseconds; 0 for an empty queue. */
  oldestMs(): number {
    const now = this.#clock();
    return now - Math.min(now, ...[...this.#groups.values()].flatMap(([first]) => first?.sentAt ?? []));
  }

  /** Wakes the messages whose sleep is over. */
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
