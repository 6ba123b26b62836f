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
  GITHUB_WEBHOOK_SECRET     the secret of the webhook, instead of a generated one
  GITHUB_TOKEN              lets the relay read issues and write comments, in place of a stand-in
  SLACK_BOT_TOKEN,          your Slack app, in place of the stand-in
  SLACK_SIGNING_SECRET,
  SLACK_APP_TOKEN

To keep the secrets of the service, of Slack and of GitHub instead, run npx partner-relay init, or enter them with\nnpx partner-relay secrets set.`,
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
