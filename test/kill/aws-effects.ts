import { DeleteItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { ChangeMessageVisibilityCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import type { Happening } from './trial.ts';

/** The change that an SDK command makes, in words; empty if it only reads. */
export function effectOf(command: object): { effect?: string; happening?: Happening } {
  if (command instanceof SendMessageCommand) return { effect: 'SendMessage' };
  if (command instanceof ChangeMessageVisibilityCommand) return { effect: 'ChangeMessageVisibility' };
  if (command instanceof PutItemCommand) return effectOn('PutItem', command.input.Item);
  if (command instanceof UpdateItemCommand) return effectOn('UpdateItem', command.input.Key);
  if (command instanceof DeleteItemCommand) return effectOn('DeleteItem', command.input.Key);
  return {};
}

/** Whether AWS has an effect of that name. */
export const changesAws = (effect: string): boolean => /^(\w+Item|SendMessage|ChangeMessageVisibility)/.test(effect);

function effectOn(action: string, item: PutItemCommand['input']['Item'] = {}): ReturnType<typeof effectOf> {
  const pk = item.pk?.S ?? '';
  const sk = item.sk?.S ?? '';
  const [kind = ''] = pk.split('#', 1);
  // In keys of other items, the rest is digests and times.
  if (kind !== 'job') return { effect: `${action} ${kind}` };
  if (sk.startsWith('step#')) return { effect: `${action} ${sk} ${item.status?.S}` };
  const effect = `${action} ${sk}`;
  if (!sk.startsWith('request#')) return { effect };
  if (action === 'DeleteItem') return { effect, happening: { what: 'dropped', pk } };
  return { effect, happening: { what: 'kept', pk, nonce: item.request?.M?.nonce?.S ?? '' } };
}
