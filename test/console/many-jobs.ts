import { BatchWriteItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { Job } from '../../lib/engine/record/job.ts';
import { keys } from '../../lib/state/table/keys.ts';
import type { TestRelay } from '../relay.ts';

/** The most writes in one request to DynamoDB. */
const BATCH = 25;
/** The statuses of each ten jobs. */
const STATUSES = ['succeeded', 'succeeded', 'succeeded', 'succeeded', 'succeeded', 'succeeded', 'parked'] as const;

/** Stores jobs that ended a second apart, without running them. @returns them, oldest first */
export async function storeManyJobs({ clock, runtime }: TestRelay, count: number): Promise<Job[]> {
  const client = new DynamoDBClient({});
  const jobs = Array.from({ length: count }, (_, index) => endedJob(index, clock.now - (count - index) * 1_000));
  for (let from = 0; from < count; from += BATCH) {
    const puts = jobs.slice(from, from + BATCH).map((job) => ({
      PutRequest: { Item: marshall({ ...keys.job(job.id), ...job }, { removeUndefinedValues: true }) },
    }));
    await client.send(new BatchWriteItemCommand({ RequestItems: { [runtime.environment.TABLE_NAME]: puts } }));
  }
  client.destroy();
  return jobs;
}

function endedJob(index: number, createdAt: number): Job {
  const status = STATUSES[index % STATUSES.length] ?? 'succeeded';
  const name = `acme/web#${index}`;
  return {
    id: `issue-to-defect-${String(index).padStart(20, '0')}`,
    automation: 'issue-to-defect',
    connection: 'main',
    lane: 'background',
    entity: name,
    summary: `${name} opened: Issue ${index}`,
    generation: 1,
    attempts: 0,
    input: { repository: 'acme/web', issueNumber: index, entity: `issue-${index}` },
    status,
    createdAt,
    queuedAt: createdAt,
    wakeAt: createdAt + 400,
    ...(status === 'parked'
      ? { parked: { reason: 'defects/create: refused with status 422', kind: 'failed' } }
      : { outcome: `created defect ${index}` }),
  };
}
