import { UNRESERVED_AT_LEAST, workersOf } from '../../lib/config/capacity.ts';
import { defineConfig } from '../../lib/config/schema.ts';
import { LONGEST_PAUSE_MS } from '../../lib/engine/run/pauses.ts';
import { customOfEach, synthesize } from '../infra/variants.ts';
import { amount, type Row } from './table.ts';

/** Calls a second of a connection that uses its whole minute. */
const CALLS = 2;
/** The cost of a call behind a backlog, from the simulation: test/long/simulated-limit.test.ts checks it. */
export const A_CALL = { workerSeconds: 2.4, indexUnits: 12, writeUnits: 30, receives: 3 };
/** The busiest status's share of the index writes. */
const BUSIEST_STATUS = 0.5;
/** The sweep's seconds for the waiting lines of each connection, and its limit. */
const SWEEP_SECONDS = { each: 0.1, most: 55 };
/** An account's default quota of concurrent executions. */
const ACCOUNT_EXECUTIONS = 1_000;
/** Limits of AWS; docs/scale.md names the sources. */
const QUOTA = {
  partitionWrites: 1_000,
  tableWrites: 40_000,
  receives: 2_400,
  inFlight: 120_000,
  resources: 500,
  templateBytes: 1_000_000,
  policyCharacters: 6_144,
  environmentBytes: 4_096,
};

interface Ceiling {
  what: string;
  limit: string;
  /** What one connection uses of the limit. */
  takes: string;
  /** How many connections reach the limit; infinity if it does not depend on their number. */
  connections: number;
}

const busy = (what: string, most: number, unit: string, perCall: number): Ceiling => ({
  what,
  limit: `${amount(most)} ${unit}`,
  takes: `${amount(CALLS * perCall)} a busy one`,
  connections: Math.floor(most / (CALLS * perCall)),
});

/** Parts of a stage's template that grow with the number of connections. */
function inTemplate(): Ceiling[] {
  const measured = [10, 20].map((count) => {
    const names = Array.from({ length: count }, (_, index) => `customer-${index + 10}`);
    const connections = Object.fromEntries(names.map((name) => [name, { mcp: { accounts: 'offered' as const } }]));
    const slack = { connection: 'customer-10' };
    const template = synthesize('company', { connections, slack }, customOfEach(1)).template();
    const json = template.toJSON();
    const sizes = (type: string, property: string) =>
      Object.values(template.findResources(type)).map(({ Properties }) => JSON.stringify(Properties[property]).length);
    return {
      count,
      resources: Object.keys(json.Resources).length,
      bytes: JSON.stringify(json).length,
      policy: Math.max(...sizes('AWS::IAM::ManagedPolicy', 'PolicyDocument')),
      environment: Math.max(...sizes('AWS::Lambda::Function', 'Environment')),
    };
  });
  const [few, many] = measured;
  if (!few || !many) throw new Error('nothing was measured');
  const ceiling = (what: string, key: 'resources' | 'bytes' | 'policy' | 'environment', most: number, unit: string) => {
    const each = (many[key] - few[key]) / (many.count - few.count);
    const connections = each > 0 ? Math.floor(few.count + (most - few[key]) / each) : Number.POSITIVE_INFINITY;
    return { what, limit: `${amount(most)} ${unit}`, takes: amount(each), connections };
  };
  return [
    ceiling('resources of the stack', 'resources', QUOTA.resources, 'resources'),
    ceiling('the template', 'bytes', QUOTA.templateBytes, 'bytes'),
    ceiling('the managed policies of the console', 'policy', QUOTA.policyCharacters, 'characters'),
    ceiling('the environment of a function', 'environment', QUOTA.environmentBytes, 'bytes'),
  ];
}

/** A configuration of many teams, each with its own connection and repository. */
function manyTeams() {
  const names = Array.from({ length: 100 }, (_, index) => `team-${index}`);
  return defineConfig({
    connections: Object.fromEntries(names.map((name) => [name, {}])),
    github: { repositories: names.map((name) => ({ name: `example/${name}`, connection: name })) },
  });
}

/** The table of docs/scale.md: the ceilings, lowest first. */
export function ceilingTable(): Row[] {
  const workers = workersOf(manyTeams());
  // Each of three open functions reserves as many executions as the worker has.
  const mostWorkers = Math.floor((ACCOUNT_EXECUTIONS - UNRESERVED_AT_LEAST) / (1 + 3));
  const ceilings = [
    busy('background workers by default', workers.background, 'workers', A_CALL.workerSeconds),
    busy('workers in an account with 1,000 executions', mostWorkers, 'workers', A_CALL.workerSeconds),
    busy(
      'the busiest status in `jobs-by-status`',
      QUOTA.partitionWrites,
      'write units a second',
      A_CALL.indexUnits * BUSIEST_STATUS,
    ),
    busy('writes to the table', QUOTA.tableWrites, 'write units a second', A_CALL.writeUnits),
    busy('receives from a FIFO queue, in most regions', QUOTA.receives, 'a second', A_CALL.receives),
    busy('messages in flight', QUOTA.inFlight, 'messages', LONGEST_PAUSE_MS / 1_000),
    {
      what: 'the sweep',
      limit: `${SWEEP_SECONDS.most} s`,
      takes: `${SWEEP_SECONDS.each} s, with a waiting line`,
      connections: Math.floor(SWEEP_SECONDS.most / SWEEP_SECONDS.each),
    },
    ...inTemplate(),
  ];
  const inOrder = ceilings.toSorted((a, b) => a.connections - b.connections);
  return [
    ['ceiling', 'limit', 'a connection takes', 'connections'],
    ...inOrder.map(
      ({ what, limit, takes, connections }): Row => [
        what,
        limit,
        takes,
        Number.isFinite(connections) ? amount(connections) : 'any number',
      ],
    ),
  ];
}
