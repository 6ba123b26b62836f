import type { RelayConfig } from './schema.ts';

/** An object of the service that a message names. */
export interface Thing {
  kind: keyof NonNullable<RelayConfig['connections'][string]['web']>;
  id: string | number;
}

/**
 * Returns the page of an object, with a name such as `defect 12`.
 * @returns undefined if relay.config.ts has no address for its kind
 */
export function pageOf(config: RelayConfig, connection: string, { kind, id }: Thing) {
  const url = config.connections[connection]?.web?.[kind]?.replace('{id}', encodeURIComponent(id));
  return url === undefined
    ? undefined
    : { name: `${kind.replace(/[A-Z]/, ' $&').toLowerCase().slice(0, -1)} ${id}`, url };
}

export type Page = NonNullable<ReturnType<typeof pageOf>>;
