import { isExpired } from '../table/expiry.ts';
import { keys } from '../table/keys.ts';
import type { Item, Table } from '../table/table.ts';
import { type Hook, hookName } from './hooks.ts';

/** A delivery without one successful attempt, as far as is known. */
export interface FailedDelivery {
  /** `X-GitHub-Delivery` */
  guid: string;
  /** Of its newest attempt, by which GitHub delivers it again, and when that was, in epoch milliseconds. */
  attemptId: string;
  attemptedAt: number;
  /** How often GitHub was asked to deliver it again, and when last, in epoch milliseconds; 0 for never. */
  asked: number;
  askedAt: number;
  /** Why it is not asked for any more. */
  ended?: Ending;
}

/** It arrived; we refused it; it was asked for often enough, or is too old; or GitHub has it no more. */
export type Ending = 'delivered' | 'refused' | 'given up' | 'gone';

/** The failed deliveries of the hooks. Runs may change them at the same moment. */
export interface FailedDeliveries {
  /** All of a hook by their GUIDs, also those that ended while GitHub may still list them. */
  of(hook: Hook): Promise<Map<string, FailedDelivery>>;
  /** Keeps a failed attempt; it changes nothing about whether the delivery was asked for or has ended. */
  keep(hook: Hook, attempt: Pick<FailedDelivery, 'guid' | 'attemptId' | 'attemptedAt'>): Promise<void>;
  end(hook: Hook, guid: string, ending: Ending): Promise<void>;
  /** Counts before it is asked for. @returns undefined where somebody else asks */
  claim(hook: Hook, failed: FailedDelivery): Promise<FailedDelivery | undefined>;
  /** Takes the claim back, because it was certainly not asked for. */
  unclaim(hook: Hook, claimed: FailedDelivery, before: FailedDelivery): Promise<void>;
}

/** No attempt is listed for longer: GitHub Enterprise Server keeps them for 7 days, github.com for 3. */
const LISTED_FOR_MS = 8 * 86_400_000;

export function createFailedDeliveries(table: Table, clock: () => number): FailedDeliveries {
  const key = (hook: Hook, guid: string) => keys.failedDelivery(hookName(hook), guid);
  const expiresAt = () => Math.floor((clock() + LISTED_FOR_MS) / 1000);

  return {
    async of(hook) {
      const items = await table.partition(key(hook, '').pk);
      const known = items.filter((item) => !isExpired(item, clock())).map(toFailedDelivery);
      return new Map(known.map((failed) => [failed.guid, failed]));
    },
    async keep(hook, { guid, attemptId, attemptedAt }) {
      await table.update(key(hook, guid), {
        expression:
          'SET #attemptId = :attemptId, #attemptedAt = :attemptedAt, #expiresAt = :expiresAt, ' +
          '#asked = if_not_exists(#asked, :never), #askedAt = if_not_exists(#askedAt, :never)',
        values: { attemptId, attemptedAt, expiresAt: expiresAt(), never: 0 },
      });
    },
    async end(hook, guid, ending) {
      await table.update(key(hook, guid), {
        expression: 'SET #ended = :ending, #expiresAt = :expiresAt',
        values: { ending, expiresAt: expiresAt() },
      });
    },
    async claim(hook, { guid, asked }) {
      const claimed = await table.update(
        key(hook, guid),
        {
          expression: 'SET #asked = :next, #askedAt = :now, #expiresAt = :expiresAt',
          values: { next: asked + 1, now: clock(), expiresAt: expiresAt() },
        },
        { expression: '#asked = :asked AND attribute_not_exists(#ended)', values: { asked } },
      );
      return claimed && toFailedDelivery(claimed);
    },
    async unclaim(hook, claimed, before) {
      await table.update(
        key(hook, claimed.guid),
        {
          expression: 'SET #asked = :before, #askedAt = :beforeAt',
          values: { before: before.asked, beforeAt: before.askedAt },
        },
        { expression: '#asked = :asked', values: { asked: claimed.asked } },
      );
    },
  };
}

function toFailedDelivery({ sk, attemptId = '', attemptedAt = 0, asked = 0, askedAt = 0, ended }: Item) {
  return { guid: sk, attemptId, attemptedAt, asked, askedAt, ...(ended !== undefined && { ended }) } as FailedDelivery;
}
