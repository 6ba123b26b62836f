import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { PolicyStatement, Role, WebIdentityPrincipal } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';

const GITHUB = 'token.actions.githubusercontent.com';

export interface DeployRoleProps {
  /** The repository whose workflow deploys: `acme/partner-relay`. */
  repository: string;
  /** The stage, and the environment of the workflow's job. */
  stage: string;
}

/**
 * The role with which .github/workflows/deploy.yml deploys a stage without a stored key. It trusts the jobs of one
 * environment of one repository, and can only assume the roles that `cdk bootstrap` created in this region.
 * https://docs.github.com/en/actions/how-tos/secure-your-work/security-harden-deployments/oidc-in-aws
 */
export class DeployRoleStack extends Stack {
  constructor(scope: Construct, id: string, { repository, stage }: DeployRoleProps) {
    super(scope, id, { description: `Lets GitHub Actions of ${repository} deploy Partner Relay, stage ${stage}` });
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
      resourceName: `cdk-*-${this.account}-${this.region}`,
    });
    role.addToPolicy(new PolicyStatement({ actions: ['sts:AssumeRole'], resources: [bootstrapRoles] }));
    acknowledge(
      role,
      'AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:iam::<AWS::AccountId>:role/cdk-*-<AWS::AccountId>-<AWS::Region>]',
      'The roles that the CDK bootstrapped in this region, for lookups, file publishing and deployment.',
    );
    new CfnOutput(this, 'DeployRoleArn', { value: role.roleArn });
  }
}
