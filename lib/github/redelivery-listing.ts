import type { Hooks, KnownHook, Place } from './hooks.ts';
import { CursorRefused, type HookDeliveries } from './redelivery-api.ts';
import type { Attempt } from './redelivery-attempt.ts';
import { KEPT_FOR_MS, resultOf } from './redelivery-rules.ts';
import type { FailedDeliveries, FailedDelivery } from './redelivery-store.ts';

/** What is known of a hook's deliveries. */
export interface Seen {
  /** By GUID, with those that ended. */
  failed: Map<string, FailedDelivery>;
  /** When anything was last delivered, as far as this run saw; epoch milliseconds. */
  gotThroughAt: number;
}

export interface ListingOptions {
  hook: KnownHook;
  deliveries: HookDeliveries;
  seen: Seen;
  hooks: Hooks;
  failures: FailedDeliveries;
  clock: () => number;
  /** @throws {NotNow} where the run has no time for another request */
  inTime: () => void;
}

/**
 * A hook's list, read from the newest attempt on. What failed is kept in the table before the place moves on, page by
 * page, so that a run may end anywhere.
 */
export interface Listing {
  /** Reads what was listed since the last run. @returns the place afterwards */
  readNew(): Promise<Place>;
  /** Reads on where an earlier run ended before its time. */
  readGap(place: Place): Promise<void>;
}

/**
 * Attempts may be listed minutes after they were made, so the last hour is read again.
 * https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/troubleshooting-webhooks
 */
const LISTED_WITHIN_MS = 3_600_000;

export function createListing(options: ListingOptions): Listing {
  const { hook, deliveries, seen, hooks, failures, clock, inTime } = options;

  /** The pages from a cursor back to a time; `next` is undefined on the last of them. */
  async function* pages(cursor: string | undefined, from: number) {
    for (let at = cursor; ; ) {
      inTime();
      const { attempts, next } = await deliveries.list(at);
      const oldest = attempts.at(-1);
      at = oldest && oldest.deliveredAt >= from ? next : undefined;
      for (const [guid, some] of Map.groupBy(attempts, (attempt) => attempt.guid)) await note(guid, some);
      yield { attempts, next: at };
      if (!at) return;
    }
  }

  /** Notes what some attempts say about their delivery; older ones may follow. */
  async function note(guid: string, attempts: Attempt[]): Promise<void> {
    const known = seen.failed.get(guid);
    const delivered = attempts.filter((attempt) => resultOf(attempt) === 'delivered');
    seen.gotThroughAt = Math.max(seen.gotThroughAt, ...delivered.map((attempt) => attempt.deliveredAt));
    const newest = attempts.reduce((one, other) => (other.deliveredAt > one.deliveredAt ? other : one));
    const isNews = !known || newest.deliveredAt > known.attemptedAt;
    if (known?.ended || (!isNews && delivered.length === 0)) return;
    const failed = {
      asked: 0,
      askedAt: 0,
      ...known,
      ...{ guid, attemptId: newest.id, attemptedAt: newest.deliveredAt },
    };
    const result = delivered.length > 0 ? 'delivered' : resultOf(newest);
    if (result === 'failed') {
      await failures.keep(hook, failed);
      seen.failed.set(guid, failed);
      return;
    }
    // The attempt before a redelivery failed, and may be on a page that only a later run reads.
    if (!known && !attempts.some((attempt) => attempt.isRedelivery)) return;
    await failures.end(hook, guid, result);
    seen.failed.set(guid, { ...failed, ended: result });
  }

  async function keep(listedTo: number, gap: Place['gap']): Promise<Place> {
    const place = { listedTo, ...(gap && { gap }) };
    await hooks.keepPlace(hook, place);
    return place;
  }

  return {
    async readNew() {
      let place = hook.place ?? { listedTo: 0 };
      const { gap } = place;
      const from = Math.max(clock() - KEPT_FOR_MS, place.listedTo - LISTED_WITHIN_MS);
      for await (const { attempts, next } of pages(undefined, from)) {
        const listedTo = Math.max(place.listedTo, ...attempts.map((attempt) => attempt.deliveredAt));
        // Where the run ends here, one gap reaches down to the end of the earlier one.
        place = await keep(listedTo, next ? { cursor: next, from: Math.min(from, gap?.from ?? from) } : gap);
      }
      return place;
    },
    async readGap({ listedTo, gap }) {
      if (!gap) return;
      try {
        for await (const { next } of pages(gap.cursor, gap.from)) {
          await keep(listedTo, next ? { cursor: next, from: gap.from } : undefined);
        }
      } catch (error) {
        // Then the next run reads all of it from the newest attempt on.
        if (error instanceof CursorRefused) await keep(gap.from + LISTED_WITHIN_MS, undefined);
        throw error;
      }
    },
  };
}
