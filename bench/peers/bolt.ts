import { App, AwsLambdaReceiver } from '@slack/bolt';

const { SIGNING_SECRET = '', COMMAND = '', ACKNOWLEDGEMENT = '' } = process.env;

const receiver = new AwsLambdaReceiver({ signingSecret: SIGNING_SECRET });
// Told its own ids, the app need not ask Slack for them.
const app = new App({ receiver, token: 'xoxb-', botId: 'B0', botUserId: 'U0' });

/** The least comparable app: it verifies and parses each request, and acknowledges the command. */
app.command(COMMAND, async ({ ack }) => {
  await ack({ response_type: 'ephemeral', text: ACKNOWLEDGEMENT });
});

export const handler = receiver.toHandler();
