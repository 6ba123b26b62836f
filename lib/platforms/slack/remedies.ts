const REINSTALL = 'enter the bot token of an app that is installed, with npx partner-relay secrets set slack';
const UNKNOWN_REMEDY = 'check the token and the scopes of the Slack app';
const REMEDIES = new Map(
  Object.entries({
    account_inactive: REINSTALL,
    token_revoked: REINSTALL,
    token_expired: REINSTALL,
    invalid_auth: REINSTALL,
    not_authed: REINSTALL,
    missing_scope: 'give the app the scopes that npx partner-relay slack-manifest prints, and install it again',
    not_in_channel: 'invite the app to the channel',
    channel_not_found:
      'correct the channel in relay.config.ts or in your automation, or invite the app to it if it is private',
    is_archived: 'name another channel in relay.config.ts, or restore this one',
    restricted_action: 'the workspace does not let the app post there',
    messages_tab_disabled: "switch on the messages tab of the app's home",
  }),
);

/** Returns what an operator can do about a refusal. @param error Slack's error code */
export const remedyOf = (error: string): string => REMEDIES.get(error) ?? UNKNOWN_REMEDY;
