import { keptForMs, takenEvents } from '../platforms/github/delivery.ts';
import type { Hook } from '../platforms/github/redelivery/hooks.ts';
import { BETWEEN_CHANGES_MS, isDelivered, type RedeliveryOptions } from '../platforms/github/redelivery/redelivery.ts';
import { type Attempt, createRedeliveryApi, HookRefused } from '../platforms/github/redelivery/redelivery-api.ts';

/** The deliveries of a hook that arrived in a time that the table knows nothing about. */
export interface LostDeliveries {
  hook: Hook;
  /** The newest attempt of each, the oldest first. */
  attempts: Attempt[];
  /** Why GitHub does not list them. */
  refused?: string;
}

/** Epoch milliseconds. */
export interface LostPeriod {
  from: number;
  to: number;
}

/**
 * A restore point has whole seconds, the clocks differ, and the webhook stores a delivery some time after it began: GitHub
 * waits ten seconds for the answer. A delivery that is asked for needlessly changes nothing.
 */
const MARGIN_MS = 10 * 60_000;

/**
 * Asks GitHub to deliver again what a lost table had accepted. redelivery.ts takes care of what never arrived. Which
 * deliveries are missing, GitHub alone tells: a restored table knows what was asked for before the lost time.
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
     * The deliveries that arrived in the period, and not after it.
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
     * Asks for one delivery after the other.
     * @param asked is told each that GitHub will deliver again
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
