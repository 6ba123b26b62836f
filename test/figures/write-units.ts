import { readFileSync } from 'node:fs';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { defineConfig } from '../../lib/config/schema.ts';
import { jobsByStatus, waitingLine } from '../../lib/state/table/keys.ts';
import { DynamoDbModel } from '../../local/world/dynamodb-model.ts';
import { startGithubApi } from '../github-api.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestClock, type TestRelay } from '../relay.ts';
import { seededRandom } from '../service/budget/virtual-time.ts';

/** DynamoDB's charges for an issue that becomes a defect. */
export interface IssueUnits {
  /** Write units until the job is queued. */
  toTake: number;
  /** All write units by kind of item: `job`, `link`, and for indexes `job (index)`. */
  writes: ReadonlyMap<string, number>;
  write: number;
  read: number;
}

export function unitsOfIssue(bodyBytes: number): Promise<IssueUnits> {
  return counted({}, async (relay, table) => {
    await relay.post('issues', issueEvent('opened', { body: prose(bodyBytes) }));
    const toTake = writesOf(table).total;
    await relay.workToTheEnd();
    const { writes, total } = writesOf(table);
    // Only the sweep and the test itself read an index.
    const ofTable = [...table.units].filter(([kind]) => kind !== jobsByStatus.name);
    return { toTake, writes, write: total, read: readOf(ofTable) };
  });
}

/** The read units that an idle connection adds to each sweep. */
export async function unitsOfIdleConnection(): Promise<number> {
  const ofSweep = (others: object) =>
    counted(others, async (relay, table) => {
      // The first sweep notices new troubles.
      await relay.sweep();
      const before = readOf([...table.units]);
      await relay.sweep();
      return readOf([...table.units]) - before;
    });
  return (await ofSweep({ other: {} })) - (await ofSweep({}));
}

const readOf = (units: [string, { read: number }][]) => units.reduce((sum, [, { read }]) => sum + read, 0);

/** Counts with the simulation's model of DynamoDB. @param others connections without events */
async function counted<T>(others: object, act: (relay: TestRelay, table: DynamoDbModel) => Promise<T>): Promise<T> {
  const github = await startGithubApi(Date.now);
  const { connections, ...rest } = exampleConfig({}, { apiUrl: github.url });
  const config = defineConfig({ ...rest, connections: { ...connections, ...others } });
  const relay = await startRelay({ config, github: { token: 'ghp_figures' } });
  const table = new DynamoDbModel([jobsByStatus, waitingLine], (_key, apply) => apply());
  const disconnect = connectModel(table, relay.clock);
  try {
    return await act(relay, table);
  } finally {
    disconnect();
    await Promise.all([relay.close(), github.close()]);
  }
}

function writesOf(table: DynamoDbModel): { writes: Map<string, number>; total: number } {
  const writes = new Map<string, number>();
  for (const [kind, { write, indexWrite }] of table.units) {
    if (write > 0) writes.set(kind, write);
    if (indexWrite > 0) writes.set(`${kind} (index)`, indexWrite);
  }
  return { writes, total: [...writes.values()].reduce((sum, units) => sum + units, 0) };
}

/** Makes the model answer the SDK's clients of this process. @returns restores the clients */
function connectModel(table: DynamoDbModel, clock: TestClock): () => void {
  const send = async (command: { input: object }) => ({
    ...table.answer(command),
    $metadata: { date: new Date(clock.now).toUTCString() },
  });
  // The client classes inherit `send`, so their own property hides it.
  Object.defineProperty(DynamoDBClient.prototype, 'send', { value: send, configurable: true });
  return () => void Reflect.deleteProperty(DynamoDBClient.prototype, 'send');
}

/** Words of the licence in random order: a link compresses its text, so the text must not repeat itself. */
function prose(bytes: number): string {
  const words = readFileSync(new URL('../../LICENSE', import.meta.url), 'utf8').match(/[A-Za-z]+/g) ?? [];
  const random = seededRandom(1);
  let text = '';
  while (text.length < bytes) text += `${words[Math.floor(random() * words.length)]} `;
  return text.slice(0, bytes);
}
