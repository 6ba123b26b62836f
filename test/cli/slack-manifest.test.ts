import { describe, expect, it } from 'vitest';
import { slackManifest } from '../../cli/slack-manifest.ts';
import { defineConfig, type RelayConfigInput } from '../../lib/config/schema.ts';
import { DEFECT_SHORTCUT } from '../../lib/platforms/slack/views/views.ts';
import { teamInput } from '../timesheets/team.ts';
import { runRelay } from './run-command.ts';

const BASE = 'https://relay.example.com';
const URL = `${BASE}/slack`;

const length = (most: number) => new RegExp(`^.{1,${most}}$`);
const yesOrNo = /^(true|false)$/;
const publicUrl = /^https:\/\/(?!localhost|127\.0\.0\.1)\S{1,2990}$/;

/**
 * What Slack accepts: https://docs.slack.dev/reference/app-manifest, and the JSON schema at
 * https://github.com/slackapi/manifest-schema. Other fields are refused, even if Slack knows them.
 */
const published: Readonly<Record<string, RegExp>> = {
  'display_information.name': length(35),
  'display_information.description': length(140),
  'features.bot_user.display_name': /^[a-z0-9._-]{1,80}$/,
  'features.bot_user.always_online': yesOrNo,
  'features.app_home.home_tab_enabled': yesOrNo,
  'features.app_home.messages_tab_enabled': yesOrNo,
  'features.app_home.messages_tab_read_only_enabled': yesOrNo,
  'features.slash_commands.command': /^\/[^\sA-Z]{1,31}$/,
  'features.slash_commands.url': publicUrl,
  'features.slash_commands.description': length(2_000),
  'features.slash_commands.usage_hint': length(1_000),
  'features.slash_commands.should_escape': yesOrNo,
  'features.shortcuts.name': length(24),
  'features.shortcuts.type': /^(message|global)$/,
  'features.shortcuts.callback_id': length(255),
  'features.shortcuts.description': length(150),
  'oauth_config.scopes.bot': length(50),
  'settings.interactivity.is_enabled': /^true$/,
  'settings.interactivity.request_url': publicUrl,
  'settings.interactivity.message_menu_options_url': publicUrl,
  'settings.org_deploy_enabled': yesOrNo,
  'settings.socket_mode_enabled': yesOrNo,
  'settings.token_rotation_enabled': yesOrNo,
};

/** The values of a manifest by path, without positions in lists. */
function valuesOf(value: unknown, path: readonly string[] = []): [path: string, value: string][] {
  if (typeof value !== 'object' || value === null) return [[path.join('.'), String(value)]];
  return Object.entries(value).flatMap(([name, one]) => valuesOf(one, Array.isArray(value) ? path : [...path, name]));
}

function manifest(slack: Partial<RelayConfigInput['slack']> = {}, also: Partial<RelayConfigInput> = {}) {
  const input = { connections: { main: {} }, slack: { connection: 'main', ...slack }, ...also };
  return slackManifest(defineConfig(input), 'Partner Relay', URL);
}

/** The output of `partner-relay slack-manifest`. */
async function printed(...options: string[]): Promise<unknown> {
  const open = () => expect.fail('a stage was looked up');
  return JSON.parse(await runRelay({ open }, 'slack-manifest', '--url', BASE, ...options));
}

describe("the Slack app's manifest", () => {
  it.each([
    ['as it is', {}],
    ['with the longest command', { command: `/${'x'.repeat(31)}` }],
    ['with permissions', { permissions: { log: { userGroups: ['S0PLATFORM'] } } }],
  ])("respects Slack's published limits: %s", (_, slack) => {
    const values = valuesOf(manifest(slack));
    expect(values.filter(([path, value]) => !published[path]?.test(value))).toEqual([]);
    expect(new Set(values.map(([path]) => path))).toEqual(new Set(Object.keys(published)));
  });

  it('sends all requests to one URL, and has the command and the shortcut that the relay handles', () => {
    const { features, settings } = manifest({ command: '/pm-test' });
    expect(features.slash_commands).toMatchObject([{ command: '/pm-test', url: URL }]);
    expect(features.shortcuts).toMatchObject([{ type: 'message', callback_id: DEFECT_SHORTCUT }]);
    expect(settings.interactivity).toMatchObject({ request_url: URL, message_menu_options_url: URL });
    expect(features.app_home.messages_tab_enabled).toBe(true);
  });

  it.each([
    ['off', 'defect | task | done | undo | relate | log | today | week | find | status | help'],
    ['offered', 'defect | task | done | undo | relate | log | today | week | find | link | unlink | status | help'],
  ] as const)('hints at every command, where mcp.accounts is %s', (accounts, hint) => {
    const { features } = manifest({}, { connections: { main: { mcp: { accounts } } } });
    expect(features.slash_commands).toMatchObject([{ usage_hint: hint }]);
  });

  it('has no URL for Socket Mode, so that Slack needs none to reach', () => {
    const config = defineConfig({ connections: { main: {} }, slack: { connection: 'main' } });
    const socketMode = slackManifest(config, 'Partner Relay', undefined);
    expect(JSON.stringify(socketMode)).not.toMatch(/url/);
    expect(socketMode.settings).toMatchObject({ socket_mode_enabled: true, interactivity: { is_enabled: true } });
    expect(manifest().settings.socket_mode_enabled).toBe(false);
  });

  it('has the scopes of the used methods, and of groups only if permissions name some', () => {
    // https://docs.slack.dev/reference/methods names the scopes of each method.
    const least = [
      ...['channels:read', 'chat:write', 'commands', 'groups:read', 'im:history', 'im:write'],
      ...['users:read', 'users:read.email'],
    ];
    const scopes = (slack = {}) => manifest(slack).oauth_config.scopes.bot.toSorted();
    expect(scopes()).toEqual(least);
    expect(scopes({ permissions: { log: { channels: ['C0PLATFORM'] } } })).toEqual(least);
    expect(scopes({ permissions: { log: { userGroups: ['S0PLATFORM'] } } })).toEqual(
      [...least, 'usergroups:read'].toSorted(),
    );
  });

  it('has the channel history scopes only if a team has a summary or there is a contact channel', () => {
    const scopes = (team: object, channel = {}) =>
      manifest({}, { timesheets: { teams: [{ ...teamInput, ...team }] }, ...channel }).oauth_config.scopes.bot;
    const needed = expect.arrayContaining(['channels:history', 'groups:history']);
    expect(scopes({})).not.toContain('channels:history');
    expect(scopes({ summary: { channel: 'C0PLATFORM' } })).toEqual(needed);
    expect(scopes({}, { contactChannel: 'C0PLATFORM' })).toEqual(needed);
  });

  it('is printed by the command line with a custom name', async () => {
    const { default: config } = await import('../../relay.config.ts');
    expect(await printed()).toEqual(slackManifest(config, 'Partner Relay', URL));
    const name = 'n'.repeat(35);
    expect(await printed('--name', name)).toMatchObject({ display_information: { name } });
    for (const wrong of ['', `${name}n`]) await expect(printed('--name', wrong)).rejects.toThrow(/35 characters/);
  });
});
