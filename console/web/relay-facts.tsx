import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { RelayFacts } from '../contract.ts';

/** The facts of the relay, for every screen. */
export const Relay = createContext<RelayFacts | undefined>(undefined);

export function useRelay(): RelayFacts {
  const facts = useContext(Relay);
  if (!facts) throw new Error('the facts of the relay are not loaded');
  return facts;
}

/** Says in a read-only console why it has no buttons. */
export function ReadOnlyHint() {
  if (useRelay().operate) return null;
  return (
    <p class="read-only">
      This console is read-only. Start it with <code>--operate</code> to make changes.
    </p>
  );
}
