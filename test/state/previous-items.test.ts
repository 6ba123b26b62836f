import { readdirSync, readFileSync } from 'node:fs';
import { type AttributeValue, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { issueEvent } from '../issue-events.ts';
import { PROJECT, startRelay, type TestRelay } from '../relay.ts';

/** The items of each version, in DynamoDB's notation, with bytes in Base64. */
const FOLDER = new URL('items/', import.meta.url);

type Attributes = Record<string, AttributeValue>;

const itemsOf = (file: string): Attributes[] =>
  JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'), (name, value) =>
    name === 'B' && typeof value === 'string' ? Buffer.from(value, 'base64') : value,
  );

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay();
});

// docs/deploy.md#upgrade: a version reads the items of its major, and of the last minor of the major before.
describe.each(readdirSync(FOLDER))('the items in %s', (file) => {
  const items = itemsOf(file);
  const made = items.find(({ pk }) => pk?.S === 'link#issue-9001')?.defect?.M?.id?.S ?? '';

  beforeEach(async () => {
    const client = new DynamoDBClient({});
    for (const Item of items) {
      await client.send(new PutItemCommand({ TableName: relay.stack.variables.TABLE_NAME, Item }));
    }
    const [first] = relay.sandbox.data.defects;
    if (!first) throw new Error('the sandbox has no defect');
    relay.sandbox.data.defects.push({ ...first, defect_id: made, project_id: PROJECT });
    relay.clock.now += 5 * 60_000;
  });

  it('are read: the waiting job is carried out, and the defect of a link is updated', async () => {
    await relay.sweep();
    await relay.workToTheEnd();
    const before = relay.sandbox.data.defects.length;
    await relay.post('issues', issueEvent('edited', { id: 1, title: 'Read by a newer version', seconds: 300 }));
    await relay.workToTheEnd();
    expect(await relay.jobs()).toEqual([1, 2, 3].map(() => expect.objectContaining({ status: 'succeeded' })));
    expect(relay.sandbox.data.defects).toHaveLength(before);
    const titles = relay.sandbox.data.defects.flatMap(({ defect_id, title }) => (defect_id === made ? [title] : []));
    expect(titles).toEqual([expect.stringContaining('Read by a newer version')]);
    expect(await relay.links.get('issue-9002')).toMatchObject({ life: 'made' });
    expect(relay.log.filter(({ message }) => String(message).includes('cannot be read'))).toEqual([]);
  });
});
