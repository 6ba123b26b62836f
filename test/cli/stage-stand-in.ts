import { type HttpStandIn, startHttpStandIn } from '../http-stand-in.ts';
import type { TestRelay } from '../relay.ts';

export const ARN = 'arn:aws:sts::111122223333:assumed-role/Operators/mira';

export const KNOWN = {
  status: 200,
  body: `<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>${ARN}</Arn></GetCallerIdentityResult></GetCallerIdentityResponse>`,
};

export const EXPIRED =
  '<ErrorResponse><Error><Code>ExpiredToken</Code><Message>The security token is expired</Message></Error></ErrorResponse>';

const OUTPUTS = {
  STAGE: 'Stage',
  TABLE_NAME: 'TableName',
  INTERACTIVE_QUEUE_URL: 'InteractiveQueueUrl',
  BACKGROUND_QUEUE_URL: 'BackgroundQueueUrl',
  SECRET_PREFIX: 'SecretPrefix',
} as const;

/** https://docs.aws.amazon.com/lambda/latest/api/API_GetAccountSettings.html */
const ACCOUNT = { AccountLimit: { ConcurrentExecutions: 1_000 } };

/** Stands in for CloudFormation, STS and Lambda, for commands with `--stage test`. */
export interface StageStandIn extends Pick<HttpStandIn, 'asked' | 'close'> {
  /** The answer of STS. */
  identity: { status: number; body: string };
  /** Whether the stack's output says that the stage runs. */
  isRunning: boolean;
  /** The variables of a process that operates the relay as the stage `test`. */
  variables: Record<string, string>;
}

export async function startStageStandIn(relay: TestRelay): Promise<StageStandIn> {
  const {
    url: endpoint,
    asked,
    close,
  } = await startHttpStandIn(({ route, body }) => {
    if (route.endsWith('/account-settings')) return { status: 200, body: ACCOUNT };
    if (body.includes('Action=DescribeStacks')) return { status: 200, body: stackAnswer(relay, standIn.isRunning) };
    return standIn.identity;
  });
  const standIn: StageStandIn = {
    identity: KNOWN,
    isRunning: true,
    asked,
    variables: {
      PATH: String(process.env.PATH),
      NODE_COMPILE_CACHE: String(process.env.NODE_COMPILE_CACHE),
      ...relay.stack.variables,
      AWS_REGION: 'eu-central-1',
      AWS_ENDPOINT_URL_STS: endpoint,
      AWS_ENDPOINT_URL_CLOUDFORMATION: endpoint,
      AWS_ENDPOINT_URL_LAMBDA: endpoint,
    },
    close,
  };
  return standIn;
}

/** https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html */
function stackAnswer({ stack: { variables }, url }: TestRelay, isRunning: boolean): string {
  const outputs = Object.entries({ ...OUTPUTS, GITHUB: 'GithubWebhookUrl' }).map(([variable, name]) => {
    const value = variable === 'GITHUB' ? url : variables[variable as keyof typeof OUTPUTS];
    return `<member><OutputKey>${name}</OutputKey><OutputValue>${value}</OutputValue></member>`;
  });
  outputs.push(`<member><OutputKey>IsRunning</OutputKey><OutputValue>${isRunning}</OutputValue></member>`);
  return `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult><Stacks>
    <member><StackName>partner-relay-test</StackName><CreationTime>2026-11-20T10:00:00Z</CreationTime>
    <StackStatus>CREATE_COMPLETE</StackStatus><Outputs>${outputs.join('')}</Outputs></member>
    </Stacks></DescribeStacksResult></DescribeStacksResponse>`;
}
