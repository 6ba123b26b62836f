import { useState } from 'preact/hooks';
import type { Ignored } from '../contract.ts';
import { Loaded } from './failure.tsx';
import { Line, Text } from './outside.tsx';
import { useResource } from './resource.ts';
import { At } from './time.tsx';

/** The events that made no job. They are read when the operator opens the list. */
export function IgnoredEvents() {
  const [isRead, setRead] = useState(false);
  const resource = useResource<Ignored>(isRead ? '/api/ignored' : undefined);
  return (
    <details class="card" onToggle={({ currentTarget }) => currentTarget.open && setRead(true)}>
      <summary>Ignored events, and why</summary>
      {isRead && (
        <Loaded of={resource}>
          {({ events }) => (
            <ul class="plain">
              {events.length === 0 && (
                <li class="soft">None yet. An event that no automation takes appears here, with the reason.</li>
              )}
              {events.map(({ timestamp, event, deliveryId, reason }) => (
                <li key={deliveryId + timestamp}>
                  <Text text={reason} />
                  <div class="news">
                    <At at={Date.parse(timestamp)} /> · <Line text={event} length={60} /> ·{' '}
                    <code>
                      <Line text={deliveryId} length={60} />
                    </code>
                  </div>
                </li>
              ))}
            </ul>
          )}
        </Loaded>
      )}
    </details>
  );
}
