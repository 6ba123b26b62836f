import { keptForMs, takenEvents } from '../delivery.ts';
import type { Hook } from './hooks.ts';
import { BETWEEN_CHANGES_MS, deliveryKey, isDelivered, noteExpires, type RedeliveryOptions } from './redelivery.ts';
import { type Attempt, createRedeliveryApi, HookRefused } from './redelivery-api.ts';

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

/** Asks GitHub to deliver again what a lost table had accepted. redelivery.ts takes care of what never arrived. */
export function createLostDeliveries({
  github,
  apiUrl,
  table,
  clock,
  sleep,
}: Omit<RedeliveryOptions, 'hooks' | 'log'>) {
  const deliveriesOf = createRedeliveryApi(github, clock);

  return {
    /** @throws {NotNow} */
    async find(hook: Hook, period: LostPeriod): Promise<LostDeliveries> {
      const from = Math.max(period.from, clock() - keptForMs(apiUrl));
      const listed: Attempt[] = [];
      try {
        for await (const { data } of deliveriesOf(hook).pages()) {
          listed.push(...data.filter(({ event, deliveredAt }) => takenEvents.has(event) && deliveredAt >= from));
          if ((data.at(-1)?.deliveredAt ?? 0) < from) break;
        }
      } catch (error) {
        if (!(error instanceof HookRefused)) throw error;
        return { hook, attempts: [], refused: error.message };
      }
      const own = [...Map.groupBy(listed.reverse(), ({ guid }) => guid).values()];
      const lost = own.filter((attempts) => attempts.some((one) => isDelivered(one) && one.deliveredAt <= period.to));
      return { hook, attempts: lost.flatMap((attempts) => attempts.at(-1) ?? []) };
    },
    /**
     * Asks for one delivery after the other, except for those that were asked for since the beginning of the period: a
     * table from before would not know that. One that is asked for twice changes nothing.
     * @param asked is told each that GitHub will deliver again
     * @throws {NotNow | HookRefused}
     */
    async ask({ hook, attempts }: LostDeliveries, { from }: LostPeriod, asked: () => void): Promise<void> {
      const deliveries = deliveriesOf(hook);
      for (const { id, guid } of attempts) {
        const key = deliveryKey(hook, guid);
        const { askedAt } = (await table.get(key)) ?? {};
        if (Number(askedAt) > from) continue;
        if (await deliveries.redeliver(id)) {
          const now = clock();
          const values = { now, expiresAt: noteExpires(now) };
          await table.update(key, { expression: 'SET #askedAt = :now, #expiresAt = :expiresAt', values });
          asked();
        }
        await sleep(BETWEEN_CHANGES_MS);
      }
    },
  };
}
