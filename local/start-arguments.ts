import { Command } from 'commander';

/**
 * Reads the arguments of `npm start`, which has none but `--help`. Prints the help, or refuses what it does not know, and
 * ends the process.
 *
 * @param argv what follows `npm start --`
 */
export function readStartArguments(argv: readonly string[]): void {
  new Command('npm start')
    .description('Runs Partner Relay on this machine, until Ctrl-C. Variables of the environment configure it.')
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      `
Variables:
  PORT                      the port of the relay, 8787 by default; 0 for any that is free
  PARTNER_BASE_URL,         your instance of the service, in place of the sandbox
  PARTNER_API_KEY,
  PARTNER_SECRET_KEY
  GITHUB_WEBHOOK_SECRET     the secret of the webhook, in place of a made-up one
  GITHUB_TOKEN              lets the relay read issues and write comments, in place of a stand-in
  SLACK_BOT_TOKEN,          your Slack app, in place of the stand-in
  SLACK_SIGNING_SECRET,
  SLACK_APP_TOKEN

npm run -s relay -- init asks for these and keeps them. npm run -s relay -- --help lists the commands.`,
    )
    .showHelpAfterError('Nothing was started. npm start -- --help explains what configures it.')
    .parse([...argv], { from: 'user' });
}
