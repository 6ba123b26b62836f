import type { RelayConfig } from './schema.ts';

/** Whether people link accounts on any connection: then account-link is deployed. */
export function linksAccounts({ slack, connections }: Pick<RelayConfig, 'slack' | 'connections'>): boolean {
  return slack !== undefined && Object.values(connections).some(({ mcp }) => mcp.link !== 'off');
}
