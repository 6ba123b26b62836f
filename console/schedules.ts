import { schedules } from '../lib/schedules.ts';
import { keys } from '../lib/state/table/keys.ts';
import { nextTimeOf } from '../lib/triggers/cron.ts';
import { ownOf } from '../lib/triggers/own-automation.ts';
import type { OperatedRelay } from './relay.ts';

const MINUTE_MS = 60_000;
const TIMES = { 1: 'every minute', 15: 'every 15 minutes', 60: 'every hour' } as const;

/** What fires by the clock, with its last time and its next one: the functions, then the schedules of the team. */
export async function schedulesNow({ runtime, stores, lastRun }: OperatedRelay) {
  const { clock, own } = runtime;
  const now = clock();
  const functions = schedules.map(({ slug, everyMinutes, takesTime }) => {
    const periodMs = everyMinutes * MINUTE_MS;
    return {
      name: slug,
      times: TIMES[everyMinutes],
      takesTime,
      isOwn: false,
      /** Known on one machine only. */
      lastAt: lastRun?.(slug),
      nextAt: (Math.floor(now / periodMs) + 1) * periodMs,
    };
  });
  const teams = ownOf(own, 'schedule');
  const handled = teams.length > 0 ? await stores.table.get(keys.ownSchedules()) : undefined;
  const last = (handled?.last ?? {}) as Readonly<Record<string, number>>;
  return [
    ...functions,
    ...teams.map(({ name, cron, timeZone }) => ({
      name,
      times: `${cron} ${timeZone}`,
      takesTime: true,
      isOwn: true,
      lastAt: last[name],
      nextAt: nextTimeOf(cron, timeZone, now),
    })),
  ];
}
