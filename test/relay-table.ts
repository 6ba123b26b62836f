import { setImmediate } from 'node:timers/promises';
import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceNotFoundException,
} from '@aws-sdk/client-dynamodb';
import { jobsByStatus, waitingLine } from '../lib/state/table/keys.ts';
import type { DatabaseServer } from '../local/database-server.ts';
import { Process } from './fuzz/process.ts';
import { carryOutTwice, LOSES_ONE_IN, losingAnswers } from './lost-answers.ts';
import { DynamoDbModel } from './simulation/dynamodb-model.ts';

/** What befalls the requests of a table. `isLike` sees their input as JSON. */
export interface TableFaults {
  /**
   * The answer of the next request that is like this is lost: it is carried out, and the SDK repeats it.
   * @param meanwhile what happens before the sender notices
   */
  loseAnswer(isLike: (input: string) => boolean, meanwhile?: () => Promise<void>): void;
  /** From the next request that is like this, nothing is carried out until `goOn`, as after a crash. */
  stopAt(isLike: (input: string) => boolean): void;
  goOn(): void;
  /** How many answers were lost by {@link loseAnswer}. */
  lost: number;
}

type Send = (command: { input: { TableName?: string; RequestItems?: object } }) => Promise<object>;

const tables = new Map<string, Send>();
const sendings = new WeakSet<Send>();
let opened = 0;

/**
 * A state table that every client of this process reaches by its name, without a socket: the way to dynalite and back is
 * two thirds of what a test costs. It is the simulation's model, which says what dynalite and DynamoDB Local say
 * (table-statements.ts). Like them, it loses answers.
 *
 * @param clock that its answers are dated by
 */
export function openTable(clock: () => number): DatabaseServer & { name: string; faults: TableFaults } {
  const name = `relay-${++opened}`;
  const newModel = () => new DynamoDbModel([jobsByStatus, waitingLine], (_key, apply) => apply());
  let model: DynamoDbModel | undefined = newModel();
  let createdAt = new Date(0);
  const answerOf = (command: { input: object }): object => {
    if (command instanceof CreateTableCommand) {
      model = newModel();
      createdAt = new Date();
      return {};
    }
    if (!model) throw new ResourceNotFoundException({ message: name, $metadata: {} });
    if (command instanceof DeleteTableCommand) {
      model = undefined;
      return {};
    }
    if (command instanceof DescribeTableCommand)
      return { Table: { TableStatus: 'ACTIVE', CreationDateTime: createdAt } };
    return model.answer(command);
  };
  const isLost = losingAnswers(LOSES_ONE_IN);
  let loses: { isLike: (input: string) => boolean; meanwhile: (() => Promise<void>) | undefined } | undefined;
  let stops: ((input: string) => boolean) | undefined;
  const faults: TableFaults = {
    lost: 0,
    loseAnswer(isLike, meanwhile) {
      loses = { isLike, meanwhile };
    },
    stopAt(isLike) {
      stops = isLike;
    },
    goOn() {
      stops = undefined;
    },
  };
  tables.set(name, (command) => {
    const carryOut = async () => {
      await setImmediate();
      return { ...answerOf(command), $metadata: { date: new Date(clock()).toUTCString() } };
    };
    const input = stops || loses ? JSON.stringify(command.input) : '';
    if (stops?.(input)) {
      stops = () => true;
      return Promise.reject(Object.assign(new Error('the answer is lost'), { code: 'ECONNRESET' }));
    }
    if (loses?.isLike(input)) {
      const { meanwhile } = loses;
      loses = undefined;
      faults.lost++;
      return carryOutTwice(carryOut, meanwhile);
    }
    return isLost(command.input) ? carryOutTwice(carryOut) : carryOut();
  });
  reachTables(DynamoDBClient.prototype as unknown as { send: Send });
  return { name, faults, endpoint: 'http://table.invalid', close: async () => void tables.delete(name) };
}

/** All other tables are where they were. keepAnswers() gives the clients their own sending back. */
function reachTables(prototype: { send: Send }): void {
  const { send } = prototype;
  if (sendings.has(send)) return;
  const sendToTable: Send = function (this: unknown, command, ...others) {
    const { RequestItems: batch = {}, TableName: name = Object.keys(batch).join() } = command.input;
    const answer = tables.get(name);
    return answer ? Process.pass(() => answer(command), true) : send.call(this, command, ...others);
  };
  sendings.add(sendToTable);
  Object.defineProperty(prototype, 'send', { value: sendToTable, configurable: true });
}
