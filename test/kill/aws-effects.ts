import type { Happening } from './trial.ts';

type Attributes = Record<string, { S?: string; M?: Attributes }>;

/** What a request to AWS changes, in words; nothing where it only reads. */
export function effectOf(target: string, body: Buffer): { effect?: string; happening?: Happening } {
  const action = target.slice(target.indexOf('.') + 1);
  if (action === 'SendMessage' || action === 'ChangeMessageVisibility') return { effect: action };
  if (action !== 'PutItem' && action !== 'UpdateItem' && action !== 'DeleteItem') return {};
  const { Key, Item = Key } = JSON.parse(body.toString()) as { Key?: Attributes; Item?: Attributes };
  const pk = Item?.pk?.S ?? '';
  const sk = Item?.sk?.S ?? '';
  const [kind = ''] = pk.split('#', 1);
  // Of what is not a job's the rest of the key is digests and times.
  if (kind !== 'job') return { effect: `${action} ${kind}` };
  if (sk.startsWith('step#')) return { effect: `${action} ${sk} ${Item?.status?.S}` };
  const effect = `${action} ${sk}`;
  if (!sk.startsWith('request#')) return { effect };
  if (action === 'DeleteItem') return { effect, happening: { what: 'dropped', pk } };
  return { effect, happening: { what: 'kept', pk, nonce: Item?.request?.M?.nonce?.S ?? '' } };
}
