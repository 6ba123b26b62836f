import { DescribeTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DAY_MS, HOUR_MS } from '../../dates.ts';
import type { SecretTimes } from '../../state/secrets/secrets.ts';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import type { Cause, Job } from './job.ts';
import { MARKERS_SECRET } from './markers.ts';

/**
 * Whether this stage had another table before, and lost it. Nothing that was restored with a table is trusted: a restored
 * table is a new one for AWS. The stack makes the key of the markers after its first table, so a table that is newer than
 * the key is not the first.
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
    // A copy of another table has that table's times, under other keys.
    const key = keys.tableBegan(new Date(madeAt).toISOString());
    const unlessThere = { expression: 'attribute_not_exists(#pk)' };
    if (!(await table.get(key))) await table.put({ ...key, at: clock() }, unlessThere);
    return Number((await table.get(key))?.at);
  }

  return {
    /**
     * Asks AWS at most once a minute: a table can be restored under the same name, which takes longer.
     * @returns when the relay first created something with this table, or undefined for the stage's first table; epoch
     *   milliseconds
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
 * For this long after a new table is first used, workers may still use the earlier one: a deployment replaces one function
 * after another, a worker sends the same bytes for minutes, and lists lag behind.
 */
const OVERLAP_MS = 15 * 60_000;

/**
 * Whether a call for an event may have been carried out with an earlier table.
 * @param happenedAt when the event happened at the earliest
 * @returns undefined if not; otherwise until when the earlier table may have been in use, and why it is unknown
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

/** GitHub redelivers for three days, GitHub Enterprise Server for seven. Nothing is known of what calls a team's webhook. */
const REDELIVERED_MS: Record<Cause['from'], number> = {
  github: 7 * DAY_MS,
  webhook: 7 * DAY_MS,
  schedule: DAY_MS,
  job: DAY_MS,
  slack: HOUR_MS,
};

/** When a job's event happened at the earliest; epoch milliseconds. */
export function happenedAt({ createdAt, cause }: Pick<Job, 'createdAt' | 'cause'>): number {
  return createdAt - REDELIVERED_MS[cause?.from ?? 'github'];
}
