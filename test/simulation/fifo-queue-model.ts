import { AsyncLocalStorage } from 'node:async_hooks';
import type { ReceivedMessage } from '../../local/fifo-queue.ts';
import type { VirtualTime } from '../service/budget/virtual-time.ts';

/**
 * How many invocations of the worker, one after the other, led to what runs now. On AWS the SDK passes this on in
 * `X-Amzn-Trace-Id`, and SQS with the message.
 * https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
 */
export const lineage = new AsyncLocalStorage<number>();

export interface LineageMessage extends ReceivedMessage {
  /** How many invocations of the worker led to it, one after the other: the lineage in its AWSTraceHeader. */
  rounds: number;
}

interface Message extends LineageMessage {
  sequence: number;
  group: string;
  /** Changes whenever it is received, put to sleep or deleted, so that an earlier wake-up is void. */
  turn: number;
}

export interface QueueSettings {
  visibilityTimeoutMs: number;
  maxReceiveCount: number;
  /** Between two looks of a poller, and before a message reaches one that waits. */
  pollMs: readonly [number, number];
  /** A message wakes up to this much late. */
  lateMs: number;
}

const DEDUPLICATION_MS = 5 * 60_000;

/**
 * One FIFO queue of SQS in virtual time. A message that sleeps or is in hand holds its group back. Of the groups that
 * are not held back any can be next, the older the likelier: SQS gives an order within a group only.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html
 */
export class FifoQueueModel {
  readonly name: string;
  receives = 0;
  readonly deadLetters: string[] = [];
  readonly #settings: QueueSettings;
  readonly #time: VirtualTime;
  readonly #random: () => number;
  readonly #groups = new Map<string, Message[]>();
  /** The messages that can be received, the oldest first. */
  readonly #receivable: Message[] = [];
  readonly #inHand = new Map<string, Message>();
  readonly #idle: (() => void)[] = [];
  /** Deduplication ids, each of one group, and when they were sent, in that order. */
  readonly #sent = new Map<string, number>();
  #sequence = 0;

  constructor(name: string, settings: QueueSettings, time: VirtualTime, random: () => number) {
    this.name = name;
    this.#settings = settings;
    this.#time = time;
    this.#random = random;
  }

  send(body: string, group: string, deduplicationId: string): void {
    for (const [id, at] of this.#sent) {
      if (at > this.#time.now - DEDUPLICATION_MS) break;
      this.#sent.delete(id);
    }
    const id = `${deduplicationId} ${group}`;
    if (this.#sent.has(id)) return;
    this.#sent.set(id, this.#time.now);
    const sequence = this.#sequence++;
    const message = {
      messageId: `m${sequence}`,
      receiptHandle: '',
      body,
      receiveCount: 0,
      sentAt: this.#time.now,
      rounds: lineage.getStore() ?? 0,
      sequence,
      group,
      turn: 0,
    };
    const messages = this.#groups.get(group) ?? [];
    messages.push(message);
    this.#groups.set(group, messages);
    if (messages.length === 1) this.#offer(message);
  }

  /** Waits for a message. */
  async receive(): Promise<LineageMessage> {
    const [from, to] = this.#settings.pollMs;
    for (;;) {
      await this.#time.sleep(from + this.#random() * (to - from));
      const message = this.take();
      if (message) return message;
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
  }

  /** A message that can be received now. */
  take(): LineageMessage | undefined {
    for (;;) {
      const place = Math.floor(this.#receivable.length * this.#random() ** 3);
      const [message] = this.#receivable.splice(place, 1);
      if (!message) return undefined;
      message.receiveCount += 1;
      if (message.receiveCount > this.#settings.maxReceiveCount) {
        this.deadLetters.push(message.body);
        this.#remove(message);
        continue;
      }
      this.receives += 1;
      message.receiptHandle = `${message.messageId}/${message.receiveCount}`;
      this.#inHand.set(message.receiptHandle, message);
      void this.#wake(message, this.#settings.visibilityTimeoutMs);
      return { ...message };
    }
  }

  /** How long the oldest message has been here, in milliseconds; 0 without any. */
  oldestMs(): number {
    const firsts = [...this.#groups.values()].flatMap(([first]) => (first ? [first.sentAt] : []));
    return this.#time.now - Math.min(this.#time.now, ...firsts);
  }

  /** A handle that is not the message's last, or has run out, deletes nothing. */
  delete(receiptHandle: string): void {
    const message = this.#inHand.get(receiptHandle);
    if (message) this.#remove(message);
  }

  moveToDeadLetters({ receiptHandle, body }: ReceivedMessage): void {
    this.deadLetters.push(body);
    this.delete(receiptHandle);
  }

  changeVisibility(receiptHandle: string, seconds: number): void {
    const message = this.#inHand.get(receiptHandle);
    if (!message) throw new Error(`${this.name}: the receipt handle ${receiptHandle} is not valid any more`);
    void this.#wake(message, seconds * 1_000);
  }

  async #wake(message: Message, ms: number): Promise<void> {
    const turn = ++message.turn;
    await this.#time.sleep(ms === 0 ? 0 : ms + this.#random() * this.#settings.lateMs);
    if (message.turn !== turn) return;
    this.#inHand.delete(message.receiptHandle);
    this.#offer(message);
  }

  #remove(message: Message): void {
    message.turn++;
    this.#inHand.delete(message.receiptHandle);
    const messages = this.#groups.get(message.group) ?? [];
    messages.shift();
    const [next] = messages;
    if (next) this.#offer(next);
    else this.#groups.delete(message.group);
  }

  #offer(message: Message): void {
    let [from, to] = [0, this.#receivable.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#receivable[middle]?.sequence ?? 0) < message.sequence) from = middle + 1;
      else to = middle;
    }
    this.#receivable.splice(from, 0, message);
    const [wake] = this.#idle.splice(Math.floor(this.#random() * this.#idle.length), 1);
    wake?.();
  }
}
