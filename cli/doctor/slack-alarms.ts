import * as z from 'zod';
import type { StageSettings } from '../../lib/config/deployment.ts';
import { askInJson } from './ask-in-json.ts';

/** https://docs.aws.amazon.com/chatbot/latest/APIReference/API_DescribeSlackWorkspaces.html */
const slackWorkspaces = z.object({ SlackWorkspaces: z.array(z.object({ SlackTeamId: z.string() })) });

/** https://docs.aws.amazon.com/chatbot/latest/APIReference/API_DescribeSlackChannelConfigurations.html */
const slackChannels = z.object({
  SlackChannelConfigurations: z.array(z.object({ SlackChannelId: z.string(), ChatConfigurationArn: z.string() })),
});

/**
 * Checks whether the channel of the alarms can be configured.
 *
 * @param own the name of the stack's configuration of the channel
 */
export async function slackReady(
  { workspaceId, channelId }: NonNullable<StageSettings['slackAlarms']>,
  own: string,
): Promise<string> {
  // The service has endpoints in few regions, and lists the configurations of all.
  const chatbot = (list: string) =>
    askInJson(
      { service: 'chatbot', region: 'us-east-2', path: `/describe-slack-${list}` },
      {},
      `the workspace ${workspaceId} must be authorized in Amazon Q Developer in chat applications, and no other stage may have the channel`,
    );
  const { SlackWorkspaces: workspaces } = slackWorkspaces.parse(await chatbot('workspaces'));
  if (!workspaces.some(({ SlackTeamId }) => SlackTeamId === workspaceId))
    throw new Error(
      `the workspace ${workspaceId} is not authorized: authorize it in the console of Amazon Q Developer in chat applications`,
    );
  const { SlackChannelConfigurations: channels } = slackChannels.parse(await chatbot('channel-configurations'));
  const taken = channels.find(
    (one) => one.SlackChannelId === channelId && !one.ChatConfigurationArn.endsWith(`/${own}`),
  );
  if (!taken) return `the workspace ${workspaceId} is authorized, and no other configuration has the channel`;
  throw new Error(
    `${taken.ChatConfigurationArn} has the channel ${channelId} already: name another, or leave slackAlarms out and add the topic AlarmTopicArn to that configuration`,
  );
}
