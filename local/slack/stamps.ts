import { SlackError } from './call-arguments.ts';

/** Epoch milliseconds. */
export type Clock = () => number;

export type Stamps = ReturnType<typeof createStamps>;

export function createStamps(clock: Clock) {
  let lastNumber = 0;
  let lastMicroseconds = 0;
  return {
    /** A unique number, even across restarts of the stand-in, because the relay remembers ids. */
    nextNumber(): number {
      lastNumber = Math.max(clock(), lastNumber + 1);
      return lastNumber;
    },
    /** A unique time in Slack's format: `1763640000.000100` */
    nextTs(): string {
      lastMicroseconds = Math.max(clock() * 1000, lastMicroseconds + 1);
      const seconds = Math.floor(lastMicroseconds / 1_000_000);
      return `${seconds}.${String(lastMicroseconds % 1_000_000).padStart(6, '0')}`;
    },
  };
}

/** A trigger opens one modal, within three seconds: https://docs.slack.dev/surfaces/modals */
const TRIGGER_LIFE_MS = 3000;

export type Triggers = ReturnType<typeof createTriggers>;

export function createTriggers(clock: Clock, stamps: Stamps) {
  const triggers = new Map<string, { userId: string; at: number; exchanged: boolean }>();
  return {
    make(userId: string): string {
      const number = stamps.nextNumber();
      const id = `${number}.${number}.${number.toString(16).padStart(32, '0')}`;
      triggers.set(id, { userId, at: clock(), exchanged: false });
      return id;
    },
    /**
     * Uses up a trigger.
     * @returns the trigger's user
     * @throws {SlackError} from https://docs.slack.dev/reference/methods/views.open
     */
    exchange(triggerId: string): string {
      const trigger = triggers.get(triggerId);
      if (!trigger) throw new SlackError('invalid_trigger_id');
      if (trigger.exchanged) throw new SlackError('exchanged_trigger_id');
      if (clock() - trigger.at > TRIGGER_LIFE_MS) throw new SlackError('expired_trigger_id');
      trigger.exchanged = true;
      return trigger.userId;
    },
  };
}
