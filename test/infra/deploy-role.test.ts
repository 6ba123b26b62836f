import { readFileSync } from 'node:fs';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks } from 'cdk-nag';
import { expect, it } from 'vitest';
import { createApp } from '../../infra/cdk-app.ts';
import { DeployRoleStack } from '../../infra/deploy-role.ts';
import { RelayStack } from '../../infra/relay-stack.ts';
import { readStage } from '../../infra/stage.ts';
import { defineConfig } from '../../lib/config/schema.ts';
import none from '../../lib/triggers/custom-automation.ts';

const config = defineConfig({
  connections: { main: {} },
  deployment: { stages: { dev: {}, test: {}, prod: { bootstrapQualifier: 'relayprod' } } },
});
const repository = 'acme/partner-relay';

it.each([repository, 'acme@1234/partner-relay@5678'])(
  "the deploy role lets one environment of %s assume the stage's bootstrap roles and read the stage, and nothing else",
  (repository) => {
    const app = createApp();
    const stack = new DeployRoleStack(app, 'deploy-role', { repository, stage: 'prod', config });
    const template = Template.fromStack(stack);
    template.resourceCountIs('AWS::IAM::Role', 1);
    template.hasResourceProperties('AWS::IAM::Role', {
      AssumeRolePolicyDocument: Match.objectLike({
        Statement: [
          Match.objectLike({
            Action: 'sts:AssumeRoleWithWebIdentity',
            Condition: {
              StringEquals: {
                'token.actions.githubusercontent.com:aud': 'sts.amazonaws.com',
                'token.actions.githubusercontent.com:sub': `repo:${repository}:environment:prod`,
              },
            },
          }),
        ],
      }),
    });
    const [policy, ...others] = Object.values(template.findResources('AWS::IAM::Policy'));
    expect(others).toEqual([]);
    const [assume, invoke, ...reads] = policy?.Properties.PolicyDocument.Statement ?? [];
    expect(assume).toMatchObject({ Action: 'sts:AssumeRole' });
    expect(JSON.stringify(assume.Resource)).toContain(':role/cdk-relayprod-*-');
    expect(invoke).toMatchObject({ Action: 'lambda:InvokeFunction' });
    expect(JSON.stringify(invoke.Resource)).toContain(':function:partner-relay-prod-credential-check');
    // The permissions of the person who deploys, and the stack of the stage.
    const { Statement } = JSON.parse(readFileSync('docs/policies/deployer.json', 'utf8'));
    const needed = actionsOf(Statement, ['CheckTheAccount', 'CheckBeforeDeploy']);
    const read = actionsOf(reads);
    expect(read).toEqual([...needed, 'cloudformation:ListStackResources'].sort());
    expect(read.filter((one) => !/:(Describe|Get|List)/.test(one) || /:Get(Secret|Item)/.test(one))).toEqual([]);
    expect(new AwsSolutionsChecks(app).validateScope(app).violations).toEqual([]);
  },
);

function actionsOf(statements: { Sid?: string; Action: string | string[] }[], sids?: readonly string[]): string[] {
  const chosen = statements.filter(({ Sid = '' }) => !sids || sids.includes(Sid));
  return [...new Set(chosen.flatMap(({ Action }) => Action))].sort();
}

it('a stage is deployed by the roles of its own bootstrap', () => {
  const app = createApp({ context: { 'aws:cdk:bundling-stacks': [] } });
  const own = { custom: none, files: [] };
  const stack = new RelayStack(app, 'partner-relay-prod', { config, own, stage: readStage('prod', config) });
  expect(stack.synthesizer.bootstrapQualifier).toBe('relayprod');
});

it.each([
  ['acme/*', 'prod', /the repository 'acme\/\*' is not valid/],
  ['acme', 'prod', /the repository 'acme' is not valid/],
  ['acme@1234/partner-relay', 'prod', /expected a name with ids such as acme@1234/],
  ['acme@*/partner-relay@*', 'prod', /is not valid/],
  [repository, 'pro*', /no stage 'pro\*'/],
  [repository, 'dev', /the stages dev and test are deployed by the same bootstrap roles: set deployment.stages.dev/],
])('no deploy role is made for %s, stage %s', (repository, stage, why) => {
  expect(() => new DeployRoleStack(createApp(), 'deploy-role', { repository, stage, config })).toThrow(why);
});
