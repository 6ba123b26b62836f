import { readdirSync, readFileSync } from 'node:fs';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { jobsByStatus, waitingLine } from '../lib/state/table/keys.ts';
import { startGithubApi } from './github-api.ts';
import { issueEvent } from './issue-events.ts';
import { exampleConfig, startRelay, type TestClock } from './relay.ts';
import { DynamoDbModel } from './simulation/dynamodb-model.ts';

export interface IssueUnits {
  /** Write units until it is queued. */
  taken: number;
  /** Write units in all, by the kind of the item: `job`, `link`, and of the indexes `job (index)`. */
  writes: Map<string, number>;
  read: number;
}

/** What DynamoDB would charge for an issue, from its delivery to its defect and comment, by the model of the simulation. */
export async function unitsOf(bodyBytes: number): Promise<IssueUnits> {
  const github = await startGithubApi(Date.now);
  const relay = await startRelay({ config: exampleConfig({}, { apiUrl: github.url }), github: { token: 'ghp_bench' } });
  const table = new DynamoDbModel([jobsByStatus, waitingLine], (_key, apply) => apply());
  const disconnect = connectModel(table, relay.clock);
  let taken = 0;
  try {
    await relay.post('issues', issueEvent('opened', { body: prose().slice(0, bodyBytes) }));
    taken = sum([...table.units.values()].map(({ write, indexWrite }) => write + indexWrite));
    await relay.workToTheEnd();
  } finally {
    disconnect();
    await Promise.all([relay.close(), github.close()]);
  }
  const writes = new Map<string, number>();
  let readUnits = 0;
  for (const [kind, { write, indexWrite, read }] of table.units) {
    if (write > 0) writes.set(kind, write);
    if (indexWrite > 0) writes.set(`${kind} (index)`, indexWrite);
    // Only the sweep and the bench itself read an index.
    if (kind !== jobsByStatus.name) readUnits += read;
  }
  return { taken, writes, read: readUnits };
}

export const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);

/** Has the model answer the SDK's clients of this process. @returns what gives them their own sending back */
function connectModel(table: DynamoDbModel, clock: TestClock): () => void {
  const send = async (command: unknown) => ({
    ...table.answer(command),
    $metadata: { date: new Date(clock.now).toUTCString() },
  });
  // The clients inherit their sending, so that an own one hides it.
  Object.defineProperty(DynamoDBClient.prototype, 'send', { value: send, configurable: true });
  return () => void Reflect.deleteProperty(DynamoDBClient.prototype, 'send');
}

/** Realistic text, because a link stores it deflated: the text of these documents without non-ASCII characters. */
function prose(): string {
  const folder = new URL('../docs/', import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith('.md'));
  return files.map((name) => readFileSync(new URL(name, folder), 'utf8').replace(/[^\n -~]/g, '')).join('\n');
}
