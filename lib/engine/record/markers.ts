import { createHmac } from 'node:crypto';
import { markersSecret, type Secrets } from '../../state/secrets/secrets.ts';

export const MARKERS_SECRET = 'markers';
const MARKER = /\[partner-relay [\w-]{1,64}\]/g;
const HEX_DIGITS = 20;

/**
 * Makes the markers of what the relay creates: `[partner-relay 4f2a…]`, at the end of a description or a note. A marker
 * is derived from the event with a secret key, so a replaced table does not change it and outsiders cannot make one.
 */
export type Markers = ReturnType<typeof createMarkers>;

export function createMarkers(secrets: Pick<Secrets, 'current'>) {
  return {
    /**
     * @param what identifies the object permanently: a job's id, or an issue and how often its link was cleared
     * @throws {SecretError} without a key
     */
    async of(
      kind: 'defect of an issue' | 'defect' | 'time entry' | 'own',
      ...what: readonly (string | number)[]
    ): Promise<string> {
      const { key } = await secrets.current(MARKERS_SECRET, markersSecret);
      const mac = createHmac('sha256', key)
        .update(JSON.stringify([kind, ...what]))
        .digest('hex');
      return `[partner-relay ${mac.slice(0, HEX_DIGITS)}]`;
    },
  };
}

/**
 * Returns the last marker in a text of the service. The last one is the relay's own, because people can copy markers
 * into an issue, and the relay writes its marker behind their text.
 */
export function markerIn(text: unknown): string | undefined {
  return typeof text === 'string' ? text.match(MARKER)?.at(-1) : undefined;
}
