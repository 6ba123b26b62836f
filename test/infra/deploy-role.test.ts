import { App } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks } from 'cdk-nag';
import { expect, it } from 'vitest';
import { DeployRoleStack } from '../../infra/deploy-role.ts';

it("the deploy role lets one environment of one repository assume the CDK's roles, and nothing else", () => {
  const app = new App();
  const stack = new DeployRoleStack(app, 'deploy-role', { repository: 'acme/partner-relay', stage: 'prod' });
  const template = Template.fromStack(stack);
  template.hasResourceProperties('AWS::IAM::Role', {
    AssumeRolePolicyDocument: Match.objectLike({
      Statement: [
        Match.objectLike({
          Action: 'sts:AssumeRoleWithWebIdentity',
          Condition: {
            StringEquals: {
              'token.actions.githubusercontent.com:aud': 'sts.amazonaws.com',
              'token.actions.githubusercontent.com:sub': 'repo:acme/partner-relay:environment:prod',
            },
          },
        }),
      ],
    }),
  });
  template.resourceCountIs('AWS::IAM::Policy', 1);
  template.hasResourceProperties('AWS::IAM::Policy', {
    PolicyDocument: Match.objectLike({ Statement: [Match.objectLike({ Action: 'sts:AssumeRole' })] }),
  });
  expect(new AwsSolutionsChecks(app).validateScope(app).violations).toEqual([]);
});
