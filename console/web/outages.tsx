import type { ConnectionNow, Now } from '../contract.ts';
import { useResource } from './resource.ts';
import { href } from './route.ts';
import { At } from './time.tsx';

/** Whether the connection cannot send as it should. */
export const isBroken = ({ stopped, pausedUntil }: ConnectionNow) => stopped.length > 0 || pausedUntil !== null;

/** What does not work of a connection. @param operation undefined for all of it */
export function whatFails({ connection, stopped, refusesKey }: ConnectionNow, operation: string | undefined): string {
  if (stopped.length === 0) return `The service asked ${connection} for a pause`;
  if (refusesKey) return `The service refuses the key of ${connection}`;
  return operation === undefined ? `${connection} is down` : `${operation} fails on ${connection}`;
}

/** What does not work now, in short. @param of only these connections @param what it means here */
export function Outages({ of, children }: { of?: readonly string[]; children?: (one: ConnectionNow) => string }) {
  const { connections = [] } = useResource<Now>('/api/now').data ?? {};
  const broken = connections.filter((one) => isBroken(one) && (of?.includes(one.connection) ?? true));
  return broken.map((one) => {
    const [stop] = one.stopped;
    return (
      <div key={one.connection} class={one.refusesKey ? 'outage bad' : 'outage'}>
        <p>
          <strong>{whatFails(one, stop?.operation)}</strong>
          {stop && (
            <>
              {' '}
              since <At at={stop.since} />
            </>
          )}
          . {children?.(one)} <a href={href('now')}>More on Now</a>
        </p>
      </div>
    );
  });
}
