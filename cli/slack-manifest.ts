import { readCustomAutomations } from '../lib/automations/custom/folder.ts';
import { createVerbs } from '../lib/automations/verbs.ts';
import { loadConfig } from '../lib/config/config-file.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import { linksAccounts } from '../lib/config/settings.ts';
import { DEFECT_SHORTCUT } from '../lib/platforms/slack/views/views.ts';
import { cutToLength } from '../lib/text.ts';
import none, { type CustomAutomations } from '../lib/triggers/custom-automation.ts';
import type { Define } from './cli.ts';
import { printJson } from './print.ts';
import { publicWebhookUrl } from './public-url.ts';

/** `slack-manifest`: prints the manifest of the Slack app with all settings. */
export const define: Define = (command, { open }) =>
  command
    .option(
      '--url <url>',
      'the public base address of the relay, to which /slack is added; by default that of the --stage',
    )
    .option(
      '--socket-mode',
      'for a relay on this machine with SLACK_APP_TOKEN: no URL, because the relay connects to Slack',
    )
    .option('--name <name>', 'the name of the app, up to 35 characters', 'Partner Relay')
    .addHelpText(
      'after',
      `
  npx partner-relay --stage prod slack-manifest > slack-app.json
  npx partner-relay slack-manifest --url https://my-tunnel.example.com > slack-app.json

At https://api.slack.com/apps choose "Create New App", "From a manifest", and paste it. Install the app to the workspace,
and enter its signing secret (Basic Information) and its bot token (OAuth & Permissions):

  npx partner-relay --stage prod secrets set slack`,
    )
    .action(async (options: { url?: string; socketMode?: boolean; name: string }) => {
      const config = await loadConfig();
      if (options.socketMode && options.url) throw new Error('use either --url or --socket-mode');
      const url = options.socketMode ? undefined : await publicWebhookUrl('Slack', options.url, open);
      const { custom } = await readCustomAutomations(config);
      printJson(slackManifest(config, options.name, url, custom));
    });

const MAX_NAME_LENGTH = 35;
const MAX_HINT_LENGTH = 1_000;

/**
 * The manifest with the least access that the relay needs in Slack.
 *
 * @param url of slack-webhook; undefined for Socket Mode
 * @see https://docs.slack.dev/reference/app-manifest
 */
export function slackManifest(
  config: Pick<RelayConfig, 'slack' | 'connections' | 'timesheets' | 'contactChannel'>,
  name: string,
  url: string | undefined,
  custom: CustomAutomations = none,
) {
  const { slack: settings, timesheets, contactChannel } = config;
  if (!settings) throw new Error('slack is missing in relay.config.ts');
  if (name.length < 1 || name.length > MAX_NAME_LENGTH) {
    throw new Error(`the name of an app must have 1 to ${MAX_NAME_LENGTH} characters; this one has ${name.length}`);
  }
  const usable = createVerbs(custom).list.filter(({ needsAccounts }) => !needsAccounts || linksAccounts(config));
  const hint = cutToLength(usable.map(({ verb }) => verb).join(' | '), MAX_HINT_LENGTH, '…');
  const postsInChannels =
    timesheets?.teams.some(({ summary }) => summary) || contactChannel !== undefined || custom.list.length > 0;
  const limitsByGroup = Object.values(settings.permissions).some((permission) => permission?.userGroups);
  return {
    display_information: {
      name,
      description: 'The project-management service without leaving Slack.',
    },
    features: {
      bot_user: { display_name: 'partner-relay', always_online: true },
      // Slack allows direct messages only for an app with a messages tab.
      app_home: { home_tab_enabled: false, messages_tab_enabled: true, messages_tab_read_only_enabled: true },
      slash_commands: [
        {
          command: settings.command,
          ...(url !== undefined && { url }),
          description: 'Defects, checklists, time and tasks',
          usage_hint: hint,
          should_escape: false,
        },
      ],
      shortcuts: [
        {
          name: 'Create defect',
          type: 'message',
          callback_id: DEFECT_SHORTCUT,
          description: 'Opens a form for a defect, filled with the message text',
        },
      ],
    },
    oauth_config: {
      scopes: {
        bot: [
          'commands',
          // To send late outcomes, outcomes of forms, and reminders.
          'chat:write',
          // To check whether a direct message was already sent.
          'im:write',
          'im:history',
          // To match people by e-mail address.
          'users:read',
          'users:read.email',
          // For `doctor`, which checks that the channels of relay.config.ts exist. These scopes show no messages.
          'channels:read',
          'groups:read',
          ...(limitsByGroup ? ['usergroups:read'] : []),
          // To check whether a summary, a notice or a message of a custom automation was already posted in its channel.
          ...(postsInChannels ? ['channels:history', 'groups:history'] : []),
        ],
      },
    },
    settings: {
      interactivity: {
        is_enabled: true,
        ...(url !== undefined && { request_url: url, message_menu_options_url: url }),
      },
      org_deploy_enabled: false,
      socket_mode_enabled: url === undefined,
      token_rotation_enabled: false,
    },
  };
}
