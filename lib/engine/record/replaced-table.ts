import { DescribeTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DAY_MS, HOUR_MS } from '../../dates.ts';
import type { SecretTimes } from '../../state/secrets/secrets.ts';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import type { Cause, Job } from './job.ts';
import { MARKERS_SECRET } from './markers.ts';

/**
 * Knows whether this stage lost an earlier table. The relay trusts nothing that was restored with a table, because AWS
 * treats a restored table as new. The stack makes the key of the markers after its first table, so a table that is
 * newer than the key is a replacement.
 */
export type ReplacedTable = ReturnType<typeof createReplacedTable>;

const ASKED_AGAIN_MS = 60_000;

interface ReplacedTableOptions {
  client: DynamoDBClient;
  tableName: string;
  table: Table;
  secrets: SecretTimes;
  clock: () => number;
}

export function createReplacedTable({ client, tableName, table, secrets, clock }: ReplacedTableOptions) {
  let known: { answer: Promise<number | undefined>; until: number } | undefined;

  async function read(): Promise<number | undefined> {
    const [{ Table }, keyAt] = await Promise.all([
      client.send(new DescribeTableCommand({ TableName: tableName })),
      secrets.createdAt(MARKERS_SECRET),
    ]);
    const madeAt = Table?.CreationDateTime?.getTime();
    if (madeAt === undefined) throw new Error(`DynamoDB does not say when the table ${tableName} was created`);
    if (madeAt <= keyAt) return undefined;
    // A copy of another table contains that table's times, under other keys.
    const key = keys.tableBegan(new Date(madeAt).toISOString());
    const unlessThere = { expression: 'attribute_not_exists(#pk)' };
    if (!(await table.get(key))) await table.put({ ...key, at: clock() }, unlessThere);
    return Number((await table.get(key))?.at);
  }

  return {
    /**
     * Returns when the relay first created something with this table; undefined for the stage's first table. Epoch
     * milliseconds. Asks AWS at most once a minute, because restoring a table under the same name takes longer.
     */
    replacedAt() {
      if (!known || clock() >= known.until) {
        known = { answer: read(), until: clock() + ASKED_AGAIN_MS };
        known.answer.catch(() => {
          known = undefined;
        });
      }
      return known.answer;
    },
  };
}

/**
 * How long workers may still use the earlier table after the first use of the new one: a deployment replaces one
 * function after another, a worker sends the same bytes for minutes, and lists lag behind.
 */
const OVERLAP_MS = 15 * 60_000;

/**
 * Checks whether a call for an event may have been carried out with an earlier table.
 * @param happenedAt when the event happened at the earliest
 * @returns undefined if not; otherwise until when the earlier table may have been in use, and why the outcome is
 * unknown
 */
export async function ofEarlierTable(
  { replacedAt }: ReplacedTable,
  happenedAt: number,
  call: string,
): Promise<{ until: number; unknown: string } | undefined> {
  const at = await replacedAt();
  if (at === undefined || happenedAt >= at + OVERLAP_MS) return undefined;
  const date = new Date(at).toISOString().slice(0, 10);
  const unknown = `the table was replaced on ${date}, and ${call} may have been carried out before that`;
  return { until: at + OVERLAP_MS, unknown };
}

/**
 * How long an event can be delivered again. GitHub redelivers for three days, GitHub Enterprise Server for seven; the
 * senders of a team's webhook are unknown.
 */
const REDELIVERED_MS: Record<Cause['from'], number> = {
  github: 7 * DAY_MS,
  webhook: 7 * DAY_MS,
  schedule: DAY_MS,
  job: DAY_MS,
  slack: HOUR_MS,
};

/** Returns the earliest time at which a job's event may have happened; epoch milliseconds. */
export function happenedAt({ createdAt, cause }: Pick<Job, 'createdAt' | 'cause'>): number {
  return createdAt - REDELIVERED_MS[cause?.from ?? 'github'];
}
