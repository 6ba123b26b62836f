import { describe, expect, it } from 'vitest';
import type { RelayConfigInput } from '../../lib/config/schema.ts';
import { propertiesOf, type StageInput, synthesize } from './variants.ts';

const withSlack = { connections: { main: { mcp: { accounts: 'offered' } } }, slack: { connection: 'main' } } as const;

/** The stack of a stage with these settings. */
const stackOf = (settings: StageInput, { deployment, ...also }: Partial<RelayConfigInput> = withSlack) =>
  synthesize('bounded', {
    ...also,
    deployment: { stages: { bounded: settings }, alarms: { emails: ['ops@example.com'] }, ...deployment },
  }).template();

describe('executions', () => {
  /** The reserved executions, by function. */
  const reserved = (...of: Parameters<typeof stackOf>) =>
    Object.fromEntries(
      propertiesOf(stackOf(...of), 'Lambda::Function')
        .filter(({ ReservedConcurrentExecutions: executions }) => executions !== undefined)
        .map((one) => [one.FunctionName.replace('partner-relay-bounded-', ''), one.ReservedConcurrentExecutions]),
    );
  const each = (count: number) => ({ 'account-link': count, 'github-webhook': count, 'slack-webhook': count });
  const busy = { ...withSlack, deployment: { maxConcurrency: { interactive: 10, background: 45 } } };

  it.each<[string, Record<string, number>, ...Parameters<typeof stackOf>]>([
    ['none without the quota of the account', {}, {}],
    ['none where AWS could not keep a hundred', {}, { accountConcurrency: 129 }],
    ['ten for each open function', each(10), { accountConcurrency: 130 }],
    ['as many as the worker has', each(55), { accountConcurrency: 1_000 }, busy],
    ['only for functions that are deployed', { 'github-webhook': 10 }, { accountConcurrency: 130 }, {}],
  ])('%s', (_, expected, ...stage) => {
    const found = reserved(...stage);
    const { 'job-worker': __, ...open } = found;
    expect(open).toEqual(expected);
  });
});

describe("the table's throughput", () => {
  const six = Object.fromEntries([...'abcde', 'main'].map((name) => [name, {}]));
  it.each<[string, number, ...Parameters<typeof stackOf>]>([
    // At most 200 requests a second of 13 units each, and 2 calls of 111; twice.
    ['two webhooks of ten executions, ten requests a second each', 5_644, {}],
    ['one webhook', 3_044, {}, { connections: { main: {} } }],
    ['the rate of the HTTP API', 1_744, { httpApi: {} }],
    ['six connections', 7_864, {}, { ...withSlack, connections: six }],
  ])('is bounded by %s', (_, units, ...stage) => {
    const [table] = propertiesOf(stackOf(...stage), 'DynamoDB::GlobalTable');
    const write = { MaxWriteRequestUnits: units };
    const [replica] = table?.Replicas ?? [];
    expect(table?.WriteOnDemandThroughputSettings).toEqual(write);
    expect(replica.ReadOnDemandThroughputSettings).toEqual({ MaxReadRequestUnits: 3 * units });
    for (const index of table?.GlobalSecondaryIndexes ?? []) {
      expect(index.WriteOnDemandThroughputSettings).toEqual(write);
    }
  });
});
