import { randomBytes } from 'node:crypto';
import type { RelayConfig } from '../lib/config/schema.ts';
import { keptPort } from './kept-port.ts';
import type { KeptSecrets } from './kept-secrets.ts';
import { type Entered, slackAppOf, standInSigningSecret } from './secrets.ts';
import { type SlackStandIn, startSlackStandIn } from './slack/stand-in.ts';
import type { LocalStack } from './stack.ts';

export interface LocalSlack {
  signingSecret: Entered<string>;
  /** The stand-in; undefined if the relay uses Slack. */
  standIn?: SlackStandIn;
}

/** Uses Slack with the secrets of an app, otherwise a stand-in that keeps all messages. */
export async function enterSlack(stack: LocalStack, folder: string, kept: KeptSecrets): Promise<LocalSlack> {
  const app = slackAppOf(kept, process.env);
  if (app) {
    stack.secrets.put(`${stack.secretPrefix}slack`, app.value);
    return { signingSecret: { value: app.value.signingSecret, from: app.from } };
  }
  const signingSecret = standInSigningSecret();
  const botToken = `xoxb-${randomBytes(12).toString('hex')}`;
  stack.secrets.put(`${stack.secretPrefix}slack`, { signingSecret: signingSecret.value, botToken });
  const { port, keep } = await keptPort(folder, 'slack');
  const standIn = await startSlackStandIn({
    clock: Date.now,
    botToken,
    port,
    controlKey: stack.variables.AWS_ACCESS_KEY_ID,
  });
  keep(standIn.url);
  return { signingSecret, standIn };
}

function configuredChannels({ slack, timesheets, contactChannel }: RelayConfig): string[] {
  const summaries = (timesheets?.teams ?? []).flatMap(({ summary }) => summary?.channel ?? []);
  return [...Object.keys(slack?.channels ?? {}), ...summaries, ...(contactChannel ? [contactChannel] : [])];
}

/**
 * The configuration with the stand-in's address, if there is one. The stand-in gets the configured channels, and the
 * messages of a dry run, too, because it reaches no people.
 */
export function withSlackAt(
  slack: { standIn?: Pick<SlackStandIn, 'channels' | 'url'> } | undefined,
  config: RelayConfig,
): RelayConfig {
  if (!slack?.standIn || !config.slack) return config;
  const { channels } = slack.standIn;
  for (const id of configuredChannels(config)) {
    if (!channels.has(id)) channels.set(id, { id, name: id.toLowerCase(), botIsMember: true });
  }
  return {
    ...config,
    slack: { ...config.slack, apiUrl: `${slack.standIn.url}/api` },
    ...(config.timesheets && { timesheets: { ...config.timesheets, dryRun: false } }),
  };
}
