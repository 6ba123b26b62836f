import type { RelayConfig } from '../../../config/schema.ts';
import { type SlackMessage, warning } from '../../../platforms/slack/messages.ts';
import { escaped } from '../../../platforms/slack/mrkdwn.ts';
import type { Linking } from './linking.ts';

export const notOffered = ({ contact }: Pick<RelayConfig, 'contact'>): SlackMessage =>
  warning(`Accounts cannot be linked here. Ask ${escaped(contact)}.`);

/** The answers where no connection links accounts. */
export function openLinking({ config }: { config: RelayConfig }): Linking {
  const answer = async () => notOffered(config);
  const nothing = async () => undefined;
  return {
    requiringLink: (permissions) => permissions,
    linkAccount: answer,
    makeLink: answer,
    unlinkAccount: answer,
    waitsForLink: nothing,
    linkStatus: async () => [],
  };
}
