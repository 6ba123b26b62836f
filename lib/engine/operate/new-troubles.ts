import { isDeepStrictEqual } from 'node:util';
import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import * as z from 'zod/mini';
import { deadLettersOf, type QueueName } from '../../config/queues.ts';
import { MINUTE_MS } from '../../dates.ts';
import type { MetricName, Metrics } from '../../state/metrics/metrics.ts';
import { jobsByStatus, keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import { idOfRecord } from '../record/job-item.ts';
import type { Standstill } from './relay-state.ts';

/**
 * Reports troubles that are new. [An alarm
 * acts](https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-actions.html) only when its state changes,
 * so an alarm on the number of troubles would hide the second one behind the first. The log line names each trouble.
 * After a crash, a trouble may be reported twice.
 */
export interface Teller {
  table: Table;
  metrics: Metrics;
  log: Pick<Console, 'warn'>;
}

export interface Trouble {
  /** Identifies the trouble, such as `main: defects/create` */
  name: string;
  /** How long the trouble must last before it is reported. */
  lastsMs: number;
  metric: MetricName;
  about: Readonly<Record<string, unknown>>;
}

/**
 * The metrics of a minute without news. The sweep adds them each minute, so that an alarm is back at OK before the next
 * trouble. If a metric has gaps, CloudWatch uses the last value before the gap, and the alarm stays on for minutes.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
 */
export const NOTHING_NEW = {
  NewlyPaused: 0,
  NewlyRefused: 0,
  NewlyFailing: 0,
  NewlyDead: 0,
  NewlyInvalid: 0,
  JobsParked: 0,
} satisfies Partial<Record<MetricName, number>>;

const seenShape = z.object({ troubles: z.record(z.string(), z.object({ since: z.number(), isTold: z.boolean() })) });

/** Reports each trouble once, and again only if it ended in between. @param kind the kind of all given troubles */
export async function tellNewTroubles(kind: string, troubles: readonly Trouble[], { table, metrics, log }: Teller) {
  const key = keys.troubles(kind);
  const now = table.clock.now();
  const before = seenShape.safeParse(await table.get(key)).data?.troubles ?? {};
  const after: typeof before = {};
  for (const { name, lastsMs, metric, about } of troubles) {
    const { since, isTold } = before[name] ?? { since: now, isTold: false };
    const isDue = now - since >= lastsMs;
    after[name] = { since, isTold: isTold || isDue };
    if (isTold || !isDue) continue;
    log.warn({ message: 'new trouble', ...about });
    metrics.record({ [metric]: 1 });
  }
  if (!isDeepStrictEqual(before, after)) await table.put({ ...key, troubles: after });
}

/**
 * Returns the stopped parts of a connection. Short pauses are normal after a 429 and during a deployment of the
 * service.
 */
export function troublesOf(connection: string, { isPaused, refusesKey, operations }: Standstill): Trouble[] {
  const trouble = (name: string, what: string, minutes: number, metric: MetricName): Trouble => {
    return { name: `${connection}: ${name}`, lastsMs: minutes * MINUTE_MS, metric, about: { connection, what } };
  };
  return [
    ...(isPaused
      ? [trouble('paused', 'calls were stopped at each check of the last five minutes', 5, 'NewlyPaused')]
      : []),
    ...(refusesKey ? [trouble('key refused', 'the service refuses the key', 0, 'NewlyRefused')] : []),
    ...operations.map((operation) => trouble(operation, `${operation} has failed for 15 minutes`, 15, 'NewlyFailing')),
  ];
}

/** Further dead letters are no longer news. */
const MOST_DEAD = 100;

/**
 * Includes hidden messages, because messages that an operator looks at are hidden for a while, and would be new again
 * afterwards.
 */
const COUNTS = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const;

/** Returns a trouble for each dead letter of a lane, with a number as its name. */
export async function deadLetters(sqs: SQSClient, urls: Readonly<Record<QueueName, string>>): Promise<Trouble[]> {
  const lanes = ['interactive', 'background'] as const;
  const counts = await Promise.all(
    lanes.map(async (lane) => {
      const QueueUrl = deadLettersOf(urls[lane]);
      const { Attributes = {} } = await sqs.send(
        new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...COUNTS] }),
      );
      return COUNTS.reduce((sum, name) => sum + Number(Attributes[name] ?? 0), 0);
    }),
  );
  return lanes.flatMap((lane, index) =>
    Array.from({ length: Math.min(counts[index] ?? 0, MOST_DEAD) }, (_, dead) => ({
      name: `${lane}: ${dead + 1} dead`,
      lastsMs: 0,
      metric: 'NewlyDead' as const,
      about: { lane, what: 'dead letter' },
    })),
  );
}

/** How late the write of a parked job and its index entry may arrive. */
const LATE_MS = 30_000;
const PAGE = 100;

const placeShape = z.object({ toldTo: z.number() });

/** Reports the jobs that were parked since the last call, including jobs with unreadable records. */
export async function tellNewlyParked({ table, metrics, log }: Teller): Promise<void> {
  const key = keys.troubles('parked');
  const { toldTo } = placeShape.safeParse(await table.get(key)).data ?? { toldTo: 0 };
  const until = table.clock.now() - LATE_MS;
  const values = { parked: 'parked', from: toldTo + 1, until };
  if (until <= toldTo) return;
  const condition = { expression: '#status = :parked AND #wakeAt BETWEEN :from AND :until', values };
  let count = 0;
  for await (const items of table.indexPages(jobsByStatus.name, condition, PAGE)) {
    count += items.length;
    for (const item of items)
      log.warn({ message: 'newly parked job', jobId: idOfRecord(item), connection: item.connection });
  }
  if (count === 0) return;
  metrics.record({ JobsParked: count });
  await table.put({ ...key, toldTo: until });
}
