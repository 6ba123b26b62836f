import type { Command } from 'commander';
import type { RelayConfig } from '../lib/config/schema.ts';
import { DEFECT_SHORTCUT } from '../lib/slack/views.ts';
import { printJson } from './print.ts';
import { type OpenTarget, slackWebhookUrlOf } from './target.ts';

/** `slack-manifest`: the Slack app with everything set. */
export function addSlackManifestCommand(program: Command, open: OpenTarget): void {
  program
    .command('slack-manifest')
    .description('print the manifest that makes the Slack app, with its command, shortcut, URLs and scopes set')
    .option('--url <url>', 'of slack-webhook; by default that of the --stage')
    .option('--name <name>', 'of the app, up to 35 characters', 'Partner Relay')
    .addHelpText(
      'after',
      `
  npm run -s relay -- --stage prod slack-manifest > slack-app.json

At https://api.slack.com/apps choose "Create New App", "From a manifest", and paste it. Install the app to the workspace,
and enter its signing secret (Basic Information) and its bot token (OAuth & Permissions):

  npm run -s relay -- --stage prod secrets set slack`,
    )
    .action(async (options: { url?: string; name: string }) => {
      const { default: config } = await import('../relay.config.ts');
      printJson(slackManifest(config, options.name, options.url ?? slackWebhookUrlOf(await open())));
    });
}

const MAX_NAME_LENGTH = 35;

/**
 * What the relay needs of Slack, and no more.
 * https://docs.slack.dev/reference/app-manifest
 */
export function slackManifest(
  { slack: settings, timesheets }: Pick<RelayConfig, 'slack' | 'timesheets'>,
  name: string,
  url: string,
) {
  if (!settings) throw new Error('relay.config.ts has no slack');
  if (name.length < 1 || name.length > MAX_NAME_LENGTH) {
    throw new Error(`the name of an app has 1 to ${MAX_NAME_LENGTH} characters; this has ${name.length}`);
  }
  const hasSummaries = timesheets?.teams.some(({ summary }) => summary);
  const limitsByGroup = Object.values(settings.permissions).some((permission) => permission?.userGroups);
  return {
    display_information: {
      name,
      description: 'The project-management service without leaving Slack.',
    },
    features: {
      bot_user: { display_name: 'partner-relay', always_online: true },
      // Without its messages tab an app cannot send direct messages.
      app_home: { home_tab_enabled: false, messages_tab_enabled: true, messages_tab_read_only_enabled: true },
      slash_commands: [
        {
          command: settings.command,
          url,
          description: 'Defects, checklists, time and tasks',
          usage_hint: 'defect | done | undo | log | find | link | unlink | status | help',
          should_escape: false,
        },
      ],
      shortcuts: [
        {
          name: 'Create defect',
          type: 'message',
          callback_id: DEFECT_SHORTCUT,
          description: 'Opens a form for a defect, filled with what the message says',
        },
      ],
    },
    oauth_config: {
      scopes: {
        bot: [
          'commands',
          // Outcomes that come late, those of forms, and reminders.
          'chat:write',
          // To see in a direct message of its own whether it has been sent already.
          'im:write',
          'im:history',
          // Who is who, by the address.
          'users:read',
          'users:read.email',
          // With these `doctor` sees whether the channels of relay.config.ts exist, and nothing that is said in them.
          'channels:read',
          'groups:read',
          ...(limitsByGroup ? ['usergroups:read'] : []),
          // The same for summaries in a channel, public or private.
          ...(hasSummaries ? ['channels:history', 'groups:history'] : []),
        ],
      },
    },
    settings: {
      interactivity: { is_enabled: true, request_url: url },
      org_deploy_enabled: false,
      socket_mode_enabled: false,
      token_rotation_enabled: false,
    },
  };
}
