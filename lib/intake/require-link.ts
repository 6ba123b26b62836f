import type { Permissions } from '../automations/permissions.ts';
import type { RelayConfig, SlackConfig } from '../config/schema.ts';
import type { Grants } from '../grants/grants.ts';

/** Where `connections.<name>.mcp.link` is `required`, what a person asks of the service needs a linked account. */
export function requiringLink(
  permissions: Permissions,
  { config, settings, grants }: { config: RelayConfig; settings: SlackConfig; grants: Pick<Grants, 'get'> },
): Permissions {
  return {
    async faultOf(verb, asked) {
      const fault = await permissions.faultOf(verb, asked);
      if (fault !== undefined) return fault;
      const { userId, channelId = '' } = asked;
      const connection = asked.connection ?? settings.channels[channelId]?.connection ?? settings.connection;
      if (config.connections[connection]?.mcp.link !== 'required') return undefined;
      const grant = await grants.get(connection, { in: 'slack', id: userId });
      if (grant && !grant.death) return undefined;
      return `Here, people act in their own name. Link your account first: ${settings.command} link`;
    },
  };
}
