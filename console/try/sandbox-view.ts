import { isDeepStrictEqual } from 'node:util';
import type { Fault } from '../../sandbox/faults.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';

export function faultsOf({ faults }: Sandbox) {
  return faults.entries().map(({ id, fault }) => ({ id, title: titleOf(fault), fault: { ...fault } }));
}

const creation = { operation: '/defects/create', times: 1 };

/** The faults that a person can set, with an example of each. The titles fit a phone. */
export const faultKinds: readonly { title: string; fault: Record<string, unknown> }[] = [
  { title: 'The answer to the next new defect is lost', fault: { kind: 'cut', when: 'after work', ...creation } },
  { title: 'The next new defect is lost on the way', fault: { kind: 'cut', when: 'before work', ...creation } },
  {
    title: 'The outcome of the next new defect stays unknown',
    fault: { kind: 'server-error', when: 'before work', ...creation, times: 4 },
  },
  { title: 'The next five calls fail', fault: { kind: 'server-error', times: 5 } },
  { title: 'The service is down', fault: { kind: 'maintenance' } },
  { title: 'The service does not answer at all', fault: { kind: 'latency', ms: 60_000 } },
  { title: 'A proxy answers 404 with a web page', fault: { kind: 'maintenance', status: 404 } },
  { title: 'The next call exceeds the limit', fault: { kind: 'rate-limited', retryAfterSeconds: 20, times: 1 } },
  { title: 'Each call takes three seconds', fault: { kind: 'latency', ms: 3_000 } },
  { title: 'The next answer is not JSON', fault: { kind: 'not-json', times: 1 } },
  { title: 'The next answer is empty', fault: { kind: 'empty-body', times: 1 } },
  { title: 'The next answer is a login page', fault: { kind: 'login-redirect', times: 1 } },
  { title: 'The service refuses the key', fault: { kind: 'key-revoked' } },
  { title: 'The service’s clock is ten minutes ahead', fault: { kind: 'clock-skew', seconds: 600 } },
];

/** The title of a fault that was chosen here, with its remaining count. The title of other faults describes them. */
function titleOf({ times, skip, ...fault }: Fault): string {
  const chosen = faultKinds.find(({ fault: { times: _, ...kind } }) => isDeepStrictEqual(kind, fault));
  const title = chosen?.title ?? inWords(fault);
  return [
    title,
    ...(skip ? [`after ${countOf(skip)}`] : []),
    ...(times === undefined ? [] : [`hits ${times} more ${times === 1 ? 'call' : 'calls'}`]),
  ].join('; ');
}

const countOf = (calls: number) => (calls === 1 ? '1 call' : `${calls} calls`);

/** `cut (when: after work, operation: /tasks/list)` */
function inWords({ kind, ...details }: Omit<Fault, 'times' | 'skip'>): string {
  const told = Object.entries(details).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return told.length === 0 ? kind : `${kind} (${told.join(', ')})`;
}
