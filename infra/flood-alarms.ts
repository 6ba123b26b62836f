import type { RelayConfig } from '../lib/config/schema.ts';
import type { Alarms } from './alarms.ts';
import type { Entrance } from './entrance.ts';

/**
 * Goes off if the relay refuses more requests than the service would accept calls. Scans of the internet, a hook with a
 * wrong secret, and people who press a button too late stay below that for minutes.
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
