import { MINUTE_MS } from '../lib/dates.ts';
import { schedules } from '../lib/schedules.ts';
import { type Key, keys } from '../lib/state/table/keys.ts';
import { storedTime } from '../lib/state/table/unreadable-item.ts';
import { nextTimeOf } from '../lib/triggers/cron.ts';
import { customOf } from '../lib/triggers/custom-automation.ts';
import type { OperatedRelay } from './relay.ts';

const TIMES = { 1: 'every minute', 15: 'every 15 minutes', 60: 'every hour' } as const;

/** Everything that the clock fires, with its last and next time: the functions, then the team's schedules. */
export async function schedulesNow({ runtime, stores }: OperatedRelay) {
  const { clock, custom } = runtime;
  const now = clock();
  const kept = await stores.table.partition(keys.customSchedules().pk);
  const keptAt = ({ sk }: Key) => kept.find((item) => item.sk === sk);
  const functions = schedules.map(({ slug, everyMinutes, takesTime }) => {
    const periodMs = everyMinutes * MINUTE_MS;
    return {
      name: slug,
      times: TIMES[everyMinutes],
      takesTime,
      isCustom: false,
      lastAt: storedTime.safeParse(keptAt(keys.scheduleRun(slug))?.at).data,
      nextAt: (Math.floor(now / periodMs) + 1) * periodMs,
    };
  });
  const last = (keptAt(keys.customSchedules())?.last ?? {}) as Readonly<Record<string, unknown>>;
  return [
    ...functions,
    ...customOf(custom, 'schedule').map(({ name, cron, timeZone }) => ({
      name,
      times: `${cron} ${timeZone}`,
      takesTime: true,
      isCustom: true,
      lastAt: storedTime.safeParse(last[name]).data,
      nextAt: nextTimeOf(cron, timeZone, now),
    })),
  ];
}
