import { keptForMs, takenEvents } from '../platforms/github/delivery.ts';
import type { Hook } from '../platforms/github/redelivery/hooks.ts';
import { BETWEEN_CHANGES_MS, isDelivered, type RedeliveryOptions } from '../platforms/github/redelivery/redelivery.ts';
import { type Attempt, createRedeliveryApi, HookRefused } from '../platforms/github/redelivery/redelivery-api.ts';

/** A hook's deliveries that arrived in a period about which the table knows nothing. */
export interface LostDeliveries {
  hook: Hook;
  /** The newest attempt of each delivery, oldest first. */
  attempts: Attempt[];
  /** Why GitHub does not list the deliveries. */
  refused?: string;
}

/** Epoch milliseconds. */
export interface LostPeriod {
  from: number;
  to: number;
}

/**
 * Added to the lost period: a restore point has whole seconds, clocks differ, and the webhook stores a delivery some
 * time after its beginning, for which GitHub waits ten seconds. An unnecessary redelivery changes nothing.
 */
const MARGIN_MS = 10 * 60_000;

/**
 * Requests redeliveries of what a lost table had accepted. redelivery.ts handles deliveries that never arrived. Only
 * GitHub knows which deliveries are missing: a restored table knows only the requests before the lost period.
 */
export function createLostDeliveries({
  github,
  apiUrl,
  custom,
  clock,
  sleep,
}: Pick<RedeliveryOptions, 'github' | 'apiUrl' | 'custom' | 'clock' | 'sleep'>) {
  const deliveriesOf = createRedeliveryApi(github, clock);
  const taken = takenEvents(custom);

  return {
    /**
     * Finds the deliveries that arrived in the period, but not after it.
     * @throws {NotNow}
     */
    async find(hook: Hook, period: LostPeriod): Promise<LostDeliveries> {
      const from = Math.max(period.from - MARGIN_MS, clock() - keptForMs(apiUrl));
      const listed: Attempt[] = [];
      try {
        for await (const { data } of deliveriesOf(hook).pages()) {
          listed.push(...data.filter(({ event, deliveredAt }) => taken.has(event) && deliveredAt >= from));
          if ((data.at(-1)?.deliveredAt ?? 0) < from) break;
        }
      } catch (error) {
        if (!(error instanceof HookRefused)) throw error;
        return { hook, attempts: [], refused: error.message };
      }
      const own = [...Map.groupBy(listed.reverse(), ({ guid }) => guid).values()];
      const lost = own.filter((attempts) => {
        const last = attempts.findLast(isDelivered);
        return last && last.deliveredAt <= period.to + (last.isRedelivery ? 0 : MARGIN_MS);
      });
      return { hook, attempts: lost.flatMap((attempts) => attempts.at(-1) ?? []) };
    },
    /**
     * Requests the deliveries one after the other.
     * @param asked is called for each delivery that GitHub will repeat
     * @throws {NotNow | HookRefused}
     */
    async ask({ hook, attempts }: LostDeliveries, asked: () => void): Promise<void> {
      const deliveries = deliveriesOf(hook);
      for (const { id } of attempts) {
        if (await deliveries.redeliver(id)) asked();
        await sleep(BETWEEN_CHANGES_MS);
      }
    },
  };
}
