import type { Permissions } from '../../../automations/permissions.ts';
import { unservedCommand } from '../../../config/links-accounts.ts';
import type { LinkIntake } from './link-account.ts';

export function requiringLink(
  permissions: Permissions,
  { config, settings, grants }: Pick<LinkIntake, 'config' | 'settings' | 'grants'>,
): Permissions {
  return {
    async faultOf(verb, asked) {
      const fault = await permissions.faultOf(verb, asked);
      if (fault !== undefined) return fault;
      const { userId, channelId = '' } = asked;
      const connection = asked.connection ?? settings.channels[channelId]?.connection ?? settings.connection;
      const { mcp } = config.connections[connection] ?? {};
      if (mcp?.link !== 'required') return undefined;
      const grant = await grants.get(connection, { in: 'slack', id: userId });
      if (!grant || grant.death) {
        return `Here, people act in their own name. Link your account first: ${settings.command} link`;
      }
      const unserved = unservedCommand(verb, mcp);
      return unserved && `${settings.command} ${unserved}`;
    },
  };
}
