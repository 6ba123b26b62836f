import type { McpConfig } from './mcp.ts';
import type { RelayConfig } from './schema.ts';

/** Whether nothing that a person asks for goes through the key of the connection. */
export function requiresLink({ connections }: Pick<RelayConfig, 'connections'>, connection: string): boolean {
  return connections[connection]?.mcp.link === 'required';
}

/** Whether people link accounts on any connection. If so, functions have the rights and keys for that. */
export function takesLinkedAccounts({ connections }: Pick<RelayConfig, 'connections'>): boolean {
  return Object.values(connections).some(({ mcp }) => mcp.link !== 'off');
}

/** Whether people link accounts on any connection: then account-link is deployed. */
export function linksAccounts(config: Pick<RelayConfig, 'slack' | 'connections'>): boolean {
  return config.slack !== undefined && takesLinkedAccounts(config);
}

/**
 * @returns why a command cannot be carried out if people have to act in their own name; undefined if it can, or if the
 *   key may do it
 */
export function unservedCommand(command: string, { link, commands }: McpConfig): string | undefined {
  if (link !== 'required' || Object.hasOwn(commands, command)) return undefined;
  return `${command} cannot be used here: people act in their own name, and relay.config.ts has no tool for it in mcp.commands`;
}
