import { unknownName } from '../faults/fault.ts';
import type { McpConfig } from './mcp.ts';
import type { RelayConfig, RepositoryConfig } from './schema.ts';

/** Finds a configured repository. GitHub's names are case-insensitive. */
export function findRepository(config: RelayConfig, fullName: string): RepositoryConfig | undefined {
  const wanted = fullName.toLowerCase();
  return config.github.repositories.find((repository) => repository.name.toLowerCase() === wanted);
}

/** Returns a connection's settings. @throws {Error} if relay.config.ts has no connection with that name */
export function connectionSettings({ connections }: Pick<RelayConfig, 'connections'>, name: string) {
  const settings = Object.hasOwn(connections, name) ? connections[name] : undefined;
  if (settings) return settings;
  throw new Error(unknownName('relay.config.ts has no connection', name, Object.keys(connections)));
}

/** True if people on the connection act only through linked accounts, never through its key. */
export function requiresLink({ connections }: Pick<RelayConfig, 'connections'>, connection: string): boolean {
  return connections[connection]?.mcp.accounts === 'required';
}

/** True if people link accounts on any connection. Then the functions get the rights and keys for it. */
export function takesLinkedAccounts({ connections }: Pick<RelayConfig, 'connections'>): boolean {
  return Object.values(connections).some(({ mcp }) => mcp.accounts !== 'off');
}

/** True if people link accounts in Slack. Then account-link is deployed. */
export function linksAccounts(config: Pick<RelayConfig, 'slack' | 'connections'>): boolean {
  return config.slack !== undefined && takesLinkedAccounts(config);
}

/**
 * @param typed the command as people type it, such as `/pm today`
 * @returns why a command cannot be carried out if people have to act in their own name; undefined if it can be, or if
 *   the key may be used
 */
export function unservedCommand(command: string, { accounts, commands }: McpConfig, typed: string): string | undefined {
  if (accounts !== 'required' || Object.hasOwn(commands, command)) return undefined;
  return `${typed} cannot be used here, because people act in their own name. An administrator can set it up`;
}

/** Returns ` on main` for a message; empty if there is only one connection. */
export const onConnection = (name: string, { connections }: Pick<RelayConfig, 'connections'>): string =>
  Object.keys(connections).length > 1 ? ` on ${name}` : '';
