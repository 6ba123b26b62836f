import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { ONE_MACHINE } from '../../lib/config/environment.ts';
import { jobsByStatus, waitingLine } from '../../lib/state/table/keys.ts';
import { LocalSecrets } from '../local-secrets.ts';
import { type LocalStack, openQueues } from '../stack.ts';
import { type Carry, connectAws, variablesAt } from './aws.ts';
import { DynamoDbModel } from './dynamodb-model.ts';

export interface MemoryStackOptions {
  clock: () => number;
  /** By default, a request only yields to others. */
  carry?: Carry;
  /** Carries out an index write later; by default at once. */
  propagate?: (key: string, apply: () => void) => void;
}

export interface MemoryStack extends LocalStack {
  table: DynamoDbModel;
}

const giveWay: Carry = async (answer) => {
  await setImmediate();
  return answer();
};
let opened = 0;

/**
 * The parts of AWS that the functions need, in memory. The SDK's clients reach them without a socket, because the way
 * to dynalite and back is two thirds of the time of a test. The table is a model that answers as dynalite and DynamoDB
 * Local do.
 */
export function openMemoryStack(options: MemoryStackOptions): MemoryStack {
  const { clock, carry = giveWay, propagate = (_key, apply) => apply() } = options;
  const place = `relay-${++opened}`;
  const { SECRET_PREFIX: secretPrefix, ...variables } = variablesAt(place);
  const table = new DynamoDbModel([jobsByStatus, waitingLine], propagate);
  const queues = openQueues(clock);
  const secrets = new LocalSecrets(clock);
  for (const name of ['markers', 'intake']) secrets.put(secretPrefix + name, { key: randomBytes(32).toString('hex') });
  const disconnect = connectAws(place, { table, queues, secrets, clock }, carry);
  return {
    table,
    queues,
    secrets,
    secretPrefix,
    variables: { ...variables, STAGE: ONE_MACHINE, SECRET_PREFIX: secretPrefix },
    close: async () => disconnect(),
  };
}
