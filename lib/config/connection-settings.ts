import { unknownName } from '../faults/unknown-name.ts';
import type { RelayConfig } from './schema.ts';

/** The settings of a connection. @throws {Error} for a name that relay.config.ts does not have */
export function connectionSettings({ connections }: Pick<RelayConfig, 'connections'>, name: string) {
  const settings = Object.hasOwn(connections, name) ? connections[name] : undefined;
  if (settings) return settings;
  throw new Error(unknownName('relay.config.ts has no connection', name, Object.keys(connections)));
}
