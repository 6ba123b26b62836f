import { ArnFormat, CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { PolicyStatement, Role, WebIdentityPrincipal } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { RelayConfig } from '../lib/config/schema.ts';
import { acknowledge, acknowledgeWildcard } from './acknowledge.ts';
import { deployedBy, readStage, StageError } from './stage.ts';

const GITHUB = 'token.actions.githubusercontent.com';

/** What a deployment reads in the account: the checks of `doctor --before-deploy`, and the states of alarms. */
const OF_THE_ACCOUNT = [
  'chatbot:DescribeSlackChannelConfigurations',
  'chatbot:DescribeSlackWorkspaces',
  'cloudwatch:DescribeAlarms',
  'ec2:DescribeAddresses',
  'ec2:DescribeVpcEndpoints',
  'ec2:DescribeVpcs',
  'lambda:GetAccountSettings',
  'logs:DescribeLogGroups',
  'servicequotas:GetServiceQuota',
];

export interface DeployRoleProps {
  /**
   * The repository whose workflow deploys, as GitHub names it in the subject of its tokens: with the ids of owner and
   * repository (`acme@1234/partner-relay@5678`). On GitHub Enterprise Server, and for repositories from before
   * 2026-07-15, without the ids. https://docs.github.com/en/actions/reference/security/oidc#immutable-subject-claims
   */
  repository: string;
  /** The stage, which is also the environment of the workflow's job. */
  stage: string;
  config: RelayConfig;
}

/**
 * The role with which GitHub Actions deploys a stage without a stored key. It trusts the jobs of one environment of one
 * repository. It can assume the roles that `cdk bootstrap` created for the stage in this region, run the check of the
 * credentials, and read what a deployment checks. An earlier job builds what it deploys
 * (docs/decisions/0048-built-before.md).
 * https://docs.github.com/en/actions/how-tos/secure-your-work/security-harden-deployments/oidc-in-aws
 */
export class DeployRoleStack extends Stack {
  /** @throws {StageError} if a name could match others, or the stage's bootstrap roles deploy another stage, too */
  constructor(scope: Construct, id: string, { repository, stage, config }: DeployRoleProps) {
    if (!/^[\w.-]+(\/[\w.-]+|@\d+\/[\w.-]+@\d+)$/.test(repository)) {
      // A wildcard would also allow other repositories.
      throw new StageError(
        `the repository '${repository}' is not valid: expected a name with ids such as acme@1234/partner-relay@5678, or acme/partner-relay for a server or a repository from before 2026-07-15`,
      );
    }
    const qualifier = ownQualifier(stage, config);
    super(scope, id, {
      description: `Lets GitHub Actions of ${repository} deploy Partner Relay, stage ${stage}`,
      synthesizer: deployedBy(qualifier),
    });
    const provider = this.formatArn({ service: 'iam', region: '', resource: 'oidc-provider', resourceName: GITHUB });
    const role = new Role(this, 'Role', {
      description: `GitHub Actions of ${repository}, environment ${stage}`,
      maxSessionDuration: Duration.hours(1),
      assumedBy: new WebIdentityPrincipal(provider, {
        StringEquals: {
          [`${GITHUB}:aud`]: 'sts.amazonaws.com',
          [`${GITHUB}:sub`]: `repo:${repository}:environment:${stage}`,
        },
      }),
    });
    const bootstrapRoles = this.formatArn({
      service: 'iam',
      region: '',
      resource: 'role',
      resourceName: `cdk-${qualifier}-*-${this.account}-${this.region}`,
    });
    role.addToPolicy(new PolicyStatement({ actions: ['sts:AssumeRole'], resources: [bootstrapRoles] }));
    acknowledge(
      role,
      `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:iam::<AWS::AccountId>:role/cdk-${qualifier}-*-<AWS::AccountId>-<AWS::Region>]`,
      'The roles that the CDK bootstrapped for the stage in this region, for lookups, file publishing and deployment.',
    );
    // After a deployment, this function checks the stage.
    const check = this.formatArn({
      service: 'lambda',
      resource: 'function',
      resourceName: `partner-relay-${stage}-credential-check`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    role.addToPolicy(new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [check] }));
    const reason = 'It reads what is there, and no value of a secret or of a table.';
    for (const [service, name, ...actions] of [
      ['cloudformation', 'stack/CDKToolkit*/*', 'DescribeStacks'],
      ['cloudformation', `stack/partner-relay-${stage}/*`, 'DescribeStacks', 'ListStackResources'],
      ['dynamodb', 'table/*', 'DescribeTable'],
      ['lambda', `function:partner-relay-${stage}-*`, 'GetFunctionConcurrency'],
      ['secretsmanager', `secret:partner-relay/${stage}/*`, 'DescribeSecret'],
    ] as const) {
      const resources = [`arn:${this.partition}:${service}:${this.region}:${this.account}:${name}`];
      role.addToPolicy(new PolicyStatement({ actions: actions.map((action) => `${service}:${action}`), resources }));
      acknowledgeWildcard(role, service, name, reason);
    }
    role.addToPolicy(new PolicyStatement({ actions: OF_THE_ACCOUNT, resources: ['*'] }));
    acknowledge(role, 'AwsSolutions-IAM5[Resource::*]', reason);
    new CfnOutput(this, 'DeployRoleArn', { value: role.roleArn });
  }
}

/**
 * The qualifier of the stage's bootstrap. No other stage may share it, because the roles of one bootstrap can deploy
 * both.
 */
function ownQualifier(name: string, config: RelayConfig): string {
  const { bootstrapQualifier } = readStage(name, config).settings;
  const others = Object.entries(config.deployment.stages)
    .filter(([other, settings]) => other !== name && settings.bootstrapQualifier === bootstrapQualifier)
    .map(([other]) => other);
  if (others.length === 0) return bootstrapQualifier;
  throw new StageError(
    `the stages ${name} and ${others.join(', ')} are deployed by the same bootstrap roles: set deployment.stages.${name}.bootstrapQualifier in relay.config.ts, then run npx partner-relay cdk bootstrap with that --qualifier. docs/deploy.md explains it.`,
  );
}
