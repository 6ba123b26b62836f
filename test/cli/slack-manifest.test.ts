import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { slackManifest } from '../../cli/slack-manifest.ts';
import { defineConfig, type RelayConfigInput } from '../../lib/config/schema.ts';
import { DEFECT_SHORTCUT } from '../../lib/platforms/slack/views/views.ts';
import { teamInput } from '../timesheets/team.ts';
import { runRelay } from './run-command.ts';

const BASE = 'https://relay.example.com';
const URL = `${BASE}/slack`;

/**
 * What Slack takes: https://docs.slack.dev/reference/app-manifest, and the JSON schema that it publishes at
 * https://github.com/slackapi/manifest-schema. Anything that is not here is refused, also where Slack knows it.
 */
const length = (least: number, most: number) => z.string().min(least).max(most);
const publicUrl = (most: number) =>
  z
    .url({ protocol: /^https$/ })
    .max(most)
    .refine((url) => !/localhost|127\.0\.0\.1/.test(url));
const published = z.strictObject({
  display_information: z.strictObject({ name: length(1, 35), description: length(1, 140) }),
  features: z.strictObject({
    bot_user: z.strictObject({ display_name: length(1, 80).regex(/^[a-z0-9._-]+$/), always_online: z.boolean() }),
    app_home: z.strictObject({
      home_tab_enabled: z.boolean(),
      messages_tab_enabled: z.boolean(),
      messages_tab_read_only_enabled: z.boolean(),
    }),
    slash_commands: z
      .array(
        z.strictObject({
          command: length(2, 32).regex(/^\/[^\sA-Z]+$/),
          url: publicUrl(3_000),
          description: length(1, 2_000),
          usage_hint: length(1, 1_000),
          should_escape: z.boolean(),
        }),
      )
      .min(1)
      .max(50),
    shortcuts: z
      .array(
        z.strictObject({
          name: length(1, 24),
          type: z.enum(['message', 'global']),
          callback_id: length(1, 255),
          description: length(1, 150),
        }),
      )
      .min(1)
      .max(10),
  }),
  oauth_config: z.strictObject({ scopes: z.strictObject({ bot: z.array(length(1, 50)).max(255) }) }),
  settings: z.strictObject({
    interactivity: z.strictObject({
      is_enabled: z.literal(true),
      request_url: publicUrl(3_500),
      message_menu_options_url: publicUrl(3_500),
    }),
    org_deploy_enabled: z.boolean(),
    socket_mode_enabled: z.boolean(),
    token_rotation_enabled: z.boolean(),
  }),
});

function manifest(slack: Partial<RelayConfigInput['slack']> = {}, also: Partial<RelayConfigInput> = {}) {
  const input = { connections: { main: {} }, slack: { connection: 'main', ...slack }, ...also };
  return slackManifest(defineConfig(input), 'Partner Relay', URL);
}

/** What `relay slack-manifest` prints. */
async function printed(...options: string[]): Promise<unknown> {
  const open = () => expect.fail('a stage was looked up');
  return JSON.parse(await runRelay({ open }, 'slack-manifest', '--url', BASE, ...options));
}

describe("the Slack app's manifest", () => {
  it.each([
    ['as it is', {}],
    ['with the longest command', { command: `/${'x'.repeat(31)}` }],
    ['with permissions', { permissions: { log: { userGroups: ['S0PLATFORM'] } } }],
  ])("the manifest respects Slack's published limits: %s", (_, slack) => {
    expect(published.safeParse(manifest(slack)).error?.issues).toBeUndefined();
  });

  it('the manifest sends all requests to one URL, and has the command and shortcut that the relay handles', () => {
    const { features, settings } = manifest({ command: '/pm-test' });
    expect(features.slash_commands).toMatchObject([{ command: '/pm-test', url: URL }]);
    expect(features.shortcuts).toMatchObject([{ type: 'message', callback_id: DEFECT_SHORTCUT }]);
    expect(settings.interactivity).toMatchObject({ request_url: URL, message_menu_options_url: URL });
    expect(features.app_home.messages_tab_enabled).toBe(true);
  });

  it.each([
    ['off', 'defect | task | done | undo | relate | log | today | week | find | status | help'],
    ['offered', 'defect | task | done | undo | relate | log | today | week | find | link | unlink | status | help'],
  ] as const)('the manifest hints at every command, where mcp.accounts is %s', (accounts, hint) => {
    const { features } = manifest({}, { connections: { main: { mcp: { accounts } } } });
    expect(features.slash_commands).toMatchObject([{ usage_hint: hint }]);
  });

  it('the manifest for Socket Mode has no URL, so that Slack needs none to reach', () => {
    const config = defineConfig({ connections: { main: {} }, slack: { connection: 'main' } });
    const socketMode = slackManifest(config, 'Partner Relay', undefined);
    expect(JSON.stringify(socketMode)).not.toMatch(/url/);
    expect(socketMode.settings).toMatchObject({ socket_mode_enabled: true, interactivity: { is_enabled: true } });
    expect(manifest().settings.socket_mode_enabled).toBe(false);
  });

  it('the manifest has the scopes of the methods in use, and of groups only if permissions name some', () => {
    // https://docs.slack.dev/reference/methods names the scopes of each.
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

  it('the manifest has the channel history scopes only if a team has a summary or there is a contact channel', () => {
    const scopes = (team: object, channel = {}) =>
      manifest({}, { timesheets: { teams: [{ ...teamInput, ...team }] }, ...channel }).oauth_config.scopes.bot;
    const needed = expect.arrayContaining(['channels:history', 'groups:history']);
    expect(scopes({})).not.toContain('channels:history');
    expect(scopes({ summary: { channel: 'C0PLATFORM' } })).toEqual(needed);
    expect(scopes({}, { contactChannel: 'C0PLATFORM' })).toEqual(needed);
  });

  it('the command line prints the manifest with a custom name', async () => {
    const { default: config } = await import('../../relay.config.ts');
    expect(await printed()).toEqual(slackManifest(config, 'Partner Relay', URL));
    const name = 'n'.repeat(35);
    expect(await printed('--name', name)).toMatchObject({ display_information: { name } });
    for (const wrong of ['', `${name}n`]) await expect(printed('--name', wrong)).rejects.toThrow(/35 characters/);
  });
});
