import {
  CloudFormationClient,
  CreateStackCommand,
  DeleteStackCommand,
  DescribeStacksCommand,
  waitUntilStackCreateComplete,
} from '@aws-sdk/client-cloudformation';
import type { Emulator } from './emulator.ts';

/** Roles for people, by purpose. */
export interface PeopleRoles<Name extends string> {
  arns: Readonly<Record<Name, string>>;
  /** Call this before the policies are deleted. */
  remove(): Promise<void>;
}

/**
 * Creates roles for people in a stack of their own.
 *
 * @param policies the only managed policy of each role
 */
export async function createPeopleRoles<Name extends string>(
  { client }: Emulator,
  StackName: string,
  policies: Readonly<Record<Name, string>>,
): Promise<PeopleRoles<Name>> {
  const cloudFormation = new CloudFormationClient(client);
  const AssumeRolePolicyDocument = {
    Version: '2012-10-17',
    // The test borrows the credentials of a function.
    Statement: [{ Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' }, Action: 'sts:AssumeRole' }],
  };
  const names = Object.keys(policies) as Name[];
  const role = (name: Name) => ({
    Type: 'AWS::IAM::Role',
    Properties: { AssumeRolePolicyDocument, ManagedPolicyArns: [policies[name]] },
  });
  const template = {
    Resources: Object.fromEntries(names.map((name) => [name, role(name)])),
    Outputs: Object.fromEntries(names.map((name) => [name, { Value: { 'Fn::GetAtt': [name, 'Arn'] } }])),
  };
  await cloudFormation.send(
    new CreateStackCommand({
      StackName,
      TemplateBody: JSON.stringify(template),
      Capabilities: ['CAPABILITY_IAM'],
    }),
  );
  await waitUntilStackCreateComplete({ client: cloudFormation, maxWaitTime: 60, minDelay: 1 }, { StackName });
  const { Stacks = [] } = await cloudFormation.send(new DescribeStacksCommand({ StackName }));
  const outputs = Stacks[0]?.Outputs?.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]) ?? [];
  return {
    arns: Object.fromEntries(outputs) as Record<Name, string>,
    remove: async () => void (await cloudFormation.send(new DeleteStackCommand({ StackName }))),
  };
}
