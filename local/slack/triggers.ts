import { SlackError } from './slack-error.ts';
import type { Clock, Stamps } from './stamps.ts';

/** https://docs.slack.dev/surfaces/modals: a trigger opens one modal, within three seconds. */
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
     * @returns the trigger's user
     * @throws {SlackError} as https://docs.slack.dev/reference/methods/views.open lists them
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
