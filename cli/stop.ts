import {
  CloudFormationClient,
  DescribeStacksCommand,
  type Parameter,
  UpdateStackCommand,
  waitUntilStackUpdateComplete,
} from '@aws-sdk/client-cloudformation';
import { messageOf } from '../lib/text.ts';
import { awsClient } from './aws.ts';
import type { Define } from './cli.ts';

/** Usually, CloudFormation needs about a minute. */
const LONGEST_UPDATE_S = 15 * 60;

/** `stop`: a stopped stage still accepts events, but runs no jobs. */
export const define: Define = (command, { stage }) =>
  command.action(async () => {
    const name = stageOf(stage());
    console.log(`Stopping the stage ${name}. CloudFormation needs about a minute.`);
    await setRunning(name, 'false');
    console.log(
      `The stage ${name} is stopped. Its webhooks keep what arrives. Nothing is sent, and no schedule fires. npx partner-relay --stage ${name} start starts it; a deployment does not.`,
    );
  });

export async function startStage(name: string): Promise<void> {
  console.log(`Starting the stage ${name}. CloudFormation needs about a minute.`);
  await setRunning(name, 'true');
  console.log(`The stage ${name} is running, and works on what it has kept.`);
}

function stageOf(stage: string | undefined): string {
  if (stage !== undefined) return stage;
  throw new Error('name the deployed stage with --stage; to stop a relay on this machine, press Ctrl+C where it runs');
}

/** @param running the parameter of infra/running.ts */
async function setRunning(stage: string, running: 'true' | 'false'): Promise<void> {
  const StackName = `partner-relay-${stage}`;
  const client = new CloudFormationClient(awsClient());
  const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName }));
  const others = stack?.Parameters?.filter(({ ParameterKey }) => ParameterKey !== 'Running') ?? [];
  if (others.length === stack?.Parameters?.length)
    throw new Error(`the stack ${StackName} cannot be stopped yet: deploy this version of the relay first`);
  const kept = others.map(({ ParameterKey }): Parameter => ({ ParameterKey, UsePreviousValue: true }));
  try {
    await client.send(
      new UpdateStackCommand({
        StackName,
        UsePreviousTemplate: true,
        Parameters: [...kept, { ParameterKey: 'Running', ParameterValue: running }],
        Capabilities: ['CAPABILITY_IAM', 'CAPABILITY_NAMED_IAM'],
      }),
    );
  } catch (error) {
    const why = messageOf(error);
    if (why.includes('No updates are to be performed')) return;
    if (!why.includes('_IN_PROGRESS') && !why.includes('cannot be updated')) throw error;
    throw new Error(`${why}. docs/recovery.md#emergency-stop says how to stop it without CloudFormation`);
  }
  await waitUntilStackUpdateComplete({ client, maxWaitTime: LONGEST_UPDATE_S }, { StackName });
}
