import { readCustomAutomations } from '../../lib/automations/custom/folder.ts';
import type { RelayConfig } from '../../lib/config/schema.ts';
import type { SecretStore } from '../secret-store.ts';
import { slackManifest } from '../slack-manifest.ts';
import type { Terminal } from './answers.ts';
import { createSlackApp, prefilledSlackUrl } from './create-slack-app.ts';

export interface SlackAppToEnter {
  config: RelayConfig;
  name: string;
  apiUrl: string;
  /** Where Slack sends requests; undefined if Slack cannot reach the relay yet. */
  url: string | undefined;
  store: SecretStore;
  terminal: Terminal | undefined;
  variables: Readonly<Record<string, string | undefined>>;
  tell: (line: string) => void;
}

const HOW_TO_ENTER = 'enter its signing secret and its bot token: npx partner-relay secrets set slack';

/**
 * Creates the Slack app, or takes an existing app's secrets from the variables, and stores its secrets.
 *
 * @returns the remaining steps for a person
 */
export async function enterSlackApp(app: SlackAppToEnter): Promise<string[]> {
  const { SLACK_SIGNING_SECRET: signingSecret, SLACK_BOT_TOKEN: botToken, SLACK_CONFIG_TOKEN } = app.variables;
  if (signingSecret && botToken) {
    await app.store.put('slack', { signingSecret, botToken });
    return [];
  }
  if (app.url === undefined) {
    return [
      'create the Slack app when the relay has a public address: npx partner-relay init --keep --slack --url https://…',
      'or use one without a public address, by Socket Mode: npx partner-relay slack-manifest --socket-mode --help',
    ];
  }
  const manifest = slackManifest(app.config, app.name, app.url, (await readCustomAutomations(app.config)).custom);
  const token =
    SLACK_CONFIG_TOKEN ||
    (await app.terminal?.askHidden('App configuration token of Slack (empty to create the app in the browser)'));
  const made = token ? await createSlackApp(app.apiUrl, token, manifest) : undefined;
  const where = made ? `install the Slack app: ${made.installUrl}` : `create it here: ${prefilledSlackUrl(manifest)}`;
  if (!app.terminal) return [where, HOW_TO_ENTER];
  app.tell(where);
  const secret =
    made?.signingSecret ?? (await app.terminal.askHidden('Signing secret, under Basic Information (empty for later)'));
  const bot = await app.terminal.askHidden('Bot token, under OAuth & Permissions (empty for later)');
  if (!secret || !bot) return [where, HOW_TO_ENTER];
  await app.store.put('slack', { signingSecret: secret, botToken: bot });
  return [];
}
