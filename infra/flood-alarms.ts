import type { RelayConfig } from '../lib/config/schema.ts';
import type { Alarms } from './alarms.ts';
import type { Entrance } from './entrance.ts';

/**
 * More requests are refused than the service would take calls. A scan of the internet, a hook with a wrong secret and a
 * person who presses a button too late stay below that for minutes.
 */
export function addFloodAlarms(alarms: Alarms, { clientErrors }: Entrance, { connections }: RelayConfig): void {
  const threshold = Object.values(connections).reduce((calls, { limits }) => calls + limits.perMinute, 0);
  for (const [name, metric] of clientErrors) {
    alarms.add(metric, `${name}-4xx`, {
      threshold,
      periods: 5,
      broken: `${name} has refused more than ${threshold} requests a minute for five minutes: it is flooded, or a sender signs with another secret. Real events may be refused too.`,
      todo: 'The log says why requests are refused. docs/deploy.md#floods says what a flood costs, and how to limit it.',
    });
  }
}
