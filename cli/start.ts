import type { Define } from './cli.ts';
import { startStage } from './stop.ts';

/** `start`: runs the relay here, or starts a stopped stage. */
export const define: Define = (command, { stage }) =>
  command
    .description('run the relay on this machine, until Ctrl-C. With --stage, start a stage that was stopped')
    .option('--verbose', 'also print addresses, keys and secrets of this machine')
    .addHelpText(
      'after',
      `
Variables of the environment configure the relay on this machine:
  PORT                      its port, 8787 by default; 0 for any that is free
  PARTNER_BASE_URL,         your instance of the service, in place of the sandbox
  PARTNER_API_KEY,
  PARTNER_SECRET_KEY
  GITHUB_WEBHOOK_SECRET     the secret of the webhook, in place of a made-up one
  GITHUB_TOKEN              lets the relay read issues and write comments, in place of a stand-in
  SLACK_BOT_TOKEN,          your Slack app, in place of the stand-in
  SLACK_SIGNING_SECRET,
  SLACK_APP_TOKEN

npx partner-relay init asks for these and keeps them.`,
    )
    .allowExcessArguments(false)
    .showHelpAfterError('Nothing was started. npx partner-relay start --help explains what configures it.')
    .action(async ({ verbose = false }: { verbose?: boolean }) => {
      const name = stage();
      if (name !== undefined) return startStage(name);
      // Only a relay on this machine needs the functions.
      const { startHere } = await import('./start-here.ts');
      await startHere({ verbose });
    });
