import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { type StageName, synthesize } from './variants.ts';

/** The functions that are in a network, by the names in the template. */
const inside = (template: Template) =>
  Object.values(template.findResources('AWS::Lambda::Function', { Properties: { VpcConfig: Match.anyValue() } }))
    .map(({ Properties }) => Properties.FunctionName.replace(/^.*-(job-worker|credential-check)$/, '$1'))
    .sort();

describe('a network', () => {
  it('a network exists only if it is configured', () => {
    const template = synthesize('dev').template();
    expect(inside(template)).toEqual([]);
    template.resourceCountIs('AWS::EC2::VPC', 0);
  });

  it('only functions that call the service run in an existing network', () => {
    const template = synthesize('existing-vpc').template();
    expect(inside(template)).toEqual(['credential-check', 'job-worker']);
    template.hasResourceProperties('AWS::Lambda::Function', {
      VpcConfig: { SubnetIds: ['subnet-0a1b2c3d', 'subnet-1a1b2c3d'], SecurityGroupIds: ['sg-0a1b2c3d'] },
    });
    template.resourceCountIs('AWS::EC2::VPCEndpoint', 0);
  });

  it.each(['endpoints-vpc', 'new-vpc'] as StageName[])(
    'a network has endpoints for the services that the functions call: %s',
    (stage) => {
      const template = synthesize(stage).template();
      expect(inside(template)).toEqual(['credential-check', 'job-worker']);
      const names = Object.values(template.findResources('AWS::EC2::VPCEndpoint')).map(
        ({ Properties: { VpcEndpointType, ServiceName } }) =>
          `${VpcEndpointType} ${JSON.stringify(ServiceName).replaceAll(/.*\.(\w+)"\]\]\}$/g, '$1')}`,
      );
      expect(names.sort()).toEqual(['Gateway dynamodb', 'Interface secretsmanager', 'Interface sqs']);
    },
  );

  it('a network created by the stack calls out from an Elastic IP, which is an output', () => {
    const template = synthesize('new-vpc').template();
    template.resourceCountIs('AWS::EC2::NatGateway', 1);
    const [address] = Object.keys(template.findResources('AWS::EC2::EIP'));
    template.hasResourceProperties('AWS::EC2::NatGateway', {
      AllocationId: { 'Fn::GetAtt': [address, 'AllocationId'] },
    });
    template.hasOutput('OutboundAddress', { Value: { 'Fn::GetAtt': [address, 'PublicIp'] } });
  });

  it("Lambda connects the function to the network, and the function's code cannot", () => {
    synthesize('new-vpc')
      .template()
      .hasResourceProperties('AWS::IAM::Policy', {
        PolicyDocument: Match.objectLike({
          Statement: Match.arrayWith([
            Match.objectLike({ Effect: 'Allow', Action: Match.arrayWith(['ec2:CreateNetworkInterface']) }),
            Match.objectLike({
              Effect: 'Deny',
              Condition: { ArnEquals: { 'lambda:SourceFunctionArn': Match.anyValue() } },
            }),
          ]),
        }),
      });
  });
});

describe('the entrance', () => {
  it('the entrance is a public function URL, with both permissions that AWS requires', () => {
    const template = synthesize('dev').template();
    template.hasResourceProperties('AWS::Lambda::Permission', { Action: 'lambda:InvokeFunctionUrl', Principal: '*' });
    template.hasResourceProperties('AWS::Lambda::Permission', {
      Action: 'lambda:InvokeFunction',
      Principal: '*',
      InvokedViaFunctionUrl: true,
    });
  });

  it('the entrance is one throttled HTTP API instead of function URLs', () => {
    const template = synthesize('http-api', { slack: { connection: 'main' } }).template();
    template.resourceCountIs('AWS::Lambda::Url', 0);
    template.hasResourceProperties('AWS::ApiGatewayV2::Stage', {
      DefaultRouteSettings: { ThrottlingRateLimit: 50, ThrottlingBurstLimit: 100, DetailedMetricsEnabled: true },
      AccessLogSettings: Match.anyValue(),
    });
    const routes = Object.values(template.findResources('AWS::ApiGatewayV2::Route'));
    expect(routes.map(({ Properties }) => Properties.RouteKey).sort()).toEqual(['POST /github', 'POST /slack']);
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: 'partner-relay-http-api-github-webhook-5xx',
      Namespace: 'AWS/ApiGateway',
      MetricName: '5xx',
      Dimensions: Match.arrayWith([{ Name: 'Resource', Value: '/github' }]),
    });
  });

  it('the entrance may have a custom domain, and then no other', () => {
    const template = synthesize('domain').template();
    template.hasResourceProperties('AWS::ApiGatewayV2::DomainName', { DomainName: 'relay.example.com' });
    template.hasResourceProperties('AWS::ApiGatewayV2::Api', { DisableExecuteApiEndpoint: true });
    template.hasOutput('GithubWebhookUrl', { Value: 'https://relay.example.com/github' });
    template.hasOutput('DomainTarget', {});
  });
});

describe('the rules of an account', () => {
  const template = synthesize('rules', { slack: { connection: 'main' } }).template();

  it('every role has a boundary and a path, and every resource has tags', () => {
    template.allResourcesProperties('AWS::IAM::Role', {
      PermissionsBoundary: 'arn:aws:iam::111122223333:policy/boundary',
      Path: '/service/relay/',
      Tags: Match.arrayWith([{ Key: 'cost-center', Value: '4711' }]),
    });
    template.allResourcesProperties('AWS::SecretsManager::Secret', {
      Tags: Match.arrayWith([{ Key: 'cost-center', Value: '4711' }]),
    });
  });

  it("everything is encrypted with the customer's key", () => {
    const key = Match.stringLikeRegexp('^arn:aws:kms:.*:key/1234abcd');
    const properties: [string, object][] = [
      ['AWS::DynamoDB::GlobalTable', { SSESpecification: { SSEEnabled: true, SSEType: 'KMS' } }],
      ['AWS::SQS::Queue', { KmsMasterKeyId: key }],
      ['AWS::SNS::Topic', { KmsMasterKeyId: key }],
      ['AWS::SecretsManager::Secret', { KmsKeyId: key }],
      ['AWS::Logs::LogGroup', { KmsKeyId: key }],
      ['AWS::Lambda::Function', { KmsKeyArn: key }],
      ['AWS::Scheduler::Schedule', { KmsKeyArn: key }],
    ];
    for (const [type, wanted] of properties) template.allResourcesProperties(type, wanted);
  });
});

describe("an authority of the company's own", () => {
  const caFile = 'test/company-ca/ca.pem';
  const trusting = (template: Template) =>
    Object.values(template.findResources('AWS::Lambda::Function'))
      .filter(({ Properties }) => Properties.Environment.Variables.NODE_EXTRA_CA_CERTS === '/var/task/ca.pem')
      .map(({ Properties }) => Properties.FunctionName)
      .sort();

  it("the company's certificate authority is bundled with the functions that call the service", async () => {
    const outdir = await mkdtemp(join(tmpdir(), 'partner-relay-synth-'));
    const { app, template } = synthesize('dev', { caFile }, { outdir, bundled: true });
    expect(trusting(template())).toEqual(['partner-relay-dev-credential-check', 'partner-relay-dev-job-worker']);
    app.synth();
    const bundled = globSync('asset.*/ca.pem', { cwd: outdir });
    expect(bundled).toHaveLength(2);
    for (const file of bundled) expect(readFileSync(join(outdir, file))).toEqual(readFileSync(caFile));
    await rm(outdir, { recursive: true });
  });

  it('a missing or invalid certificate file fails the synthesis', () => {
    expect(() => synthesize('dev', { caFile: 'company.pem' })).toThrow(
      /caFile of relay.config.ts, .*company.pem, cannot be/,
    );
  });
});
