import { readdirSync, readFileSync } from 'node:fs';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { jobsByStatus, waitingLine } from '../lib/state/table/keys.ts';
import { startGithubApi } from '../test/github-api.ts';
import { issueEvent } from '../test/issue-events.ts';
import { exampleConfig, startRelay, type TestClock } from '../test/relay.ts';
import { DynamoDbModel } from '../test/simulation/dynamodb-model.ts';
import type { Figure } from './figure.ts';

const BODY_BYTES = [200, 2_000, 10_000, 30_000];

/** Counts what DynamoDB would charge, with the model of it that the simulation uses. */
export async function* measureWriteUnits(): AsyncGenerator<Figure> {
  for (const bodyBytes of BODY_BYTES) {
    const { writes, read } = await unitsOf(bodyBytes);
    const kinds = [...writes].map(([kind, units]) => `${kind} ${units}`);
    yield {
      name: `write units, ${bodyBytes.toLocaleString('en')} bytes of text`,
      value: [...writes.values()].reduce((sum, units) => sum + units, 0),
      detail: `${kinds.join(', ')}; and ${read} read units`,
    };
  }
}

/** @returns the write units by the kind of the item: `job`, `link`, and of the indexes `job (index)` */
async function unitsOf(bodyBytes: number): Promise<{ writes: Map<string, number>; read: number }> {
  const github = await startGithubApi(Date.now);
  const relay = await startRelay({ config: exampleConfig({}, { apiUrl: github.url }), github: { token: 'ghp_bench' } });
  const table = new DynamoDbModel([jobsByStatus, waitingLine], (_key, apply) => apply());
  const disconnect = connectModel(table, relay.clock);
  try {
    await relay.post('issues', issueEvent('opened', { body: prose().slice(0, bodyBytes) }));
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
  return { writes, read: readUnits };
}

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
