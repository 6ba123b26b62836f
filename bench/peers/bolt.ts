import { App, AwsLambdaReceiver } from '@slack/bolt';

const receiver = new AwsLambdaReceiver({ signingSecret: process.env.SIGNING_SECRET ?? '' });
// With its own ids given, the app does not ask Slack for them.
const app = new App({ receiver, token: 'xoxb-', botId: 'B0', botUserId: 'U0' });

/** The smallest comparable app: it verifies and parses each request, and acknowledges the command. */
app.command(/.*/, async ({ ack, command }) => {
  const text = `:hourglass_flowing_sand: Working on it: \`${command.command} ${command.text}\``;
  await ack({ response_type: 'ephemeral', text });
});

export const handler = receiver.toHandler();
