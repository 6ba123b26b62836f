import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { vi } from 'vitest';

/** A request to the table, as the SDK got it. */
export interface TableCall {
  /** `Query`, `GetItem` */
  action: string;
  index?: string | undefined;
  limit?: number | undefined;
}

/** Records all further requests to the table. */
export function watchTable(): { calls: TableCall[]; close(): void } {
  const calls: TableCall[] = [];
  const { send } = DynamoDBClient.prototype;
  const spy = vi.spyOn(DynamoDBClient.prototype, 'send').mockImplementation(function (
    this: DynamoDBClient,
    ...sent: unknown[]
  ) {
    const command = sent[0] as { input: { IndexName?: string; Limit?: number } };
    const { IndexName: index, Limit: limit } = command.input;
    calls.push({ action: command.constructor.name.replace('Command', ''), index, limit });
    return Reflect.apply(send, this, sent);
  });
  return { calls, close: () => spy.mockRestore() };
}
