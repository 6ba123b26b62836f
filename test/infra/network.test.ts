import { globSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { inWords } from './lists.ts';
import { customOfEach, everything, propertiesOf, type StageInput, synthesize } from './variants.ts';

interface FunctionProperties {
  FunctionName: string;
  VpcConfig?: object;
  Environment: { Variables: { HTTPS_PROXY?: string; NO_PROXY: unknown } };
}

/** The matching functions, by their names in the template without stack and stage. */
const functions = (template: Template, areLike: (properties: FunctionProperties) => boolean = () => true) =>
  propertiesOf(template, 'Lambda::Function')
    .filter((properties) => areLike(properties as FunctionProperties))
    .map(({ FunctionName }) => SLUGS.find((slug) => FunctionName.endsWith(`-${slug}`)))
    .sort();

/** The functions inside a network. */
const inside = (template: Template) => functions(template, ({ VpcConfig }) => VpcConfig !== undefined);

const endpoints = (template: Template) =>
  propertiesOf(template, 'EC2::VPCEndpoint')
    .map(({ VpcEndpointType, ServiceName }) => `${VpcEndpointType} ${inWords(ServiceName).split('.').at(-1)}`)
    .sort();

const existing = { vpcId: 'vpc-0a1b2c3d', subnetIds: ['subnet-0a1b2c3d'], securityGroupIds: ['sg-0a1b2c3d'] };
const tables = { routeTableIds: ['rtb-0a1b2c3d'] };

/** The template of a stage with these settings. */
const ofStage = (settings: StageInput) => synthesize('dev', { deployment: { stages: { dev: settings } } }).template();

const SLUGS = readdirSync('functions').map((file) => basename(file, '.ts'));

describe('a network', () => {
  it.each<[NonNullable<StageInput['network']>, string[]]>([
    [{ existing: { ...existing, endpoints: { interfaces: ['secretsmanager'] } } }, ['Interface secretsmanager']],
    [{ existing: { ...existing, endpoints: { ...tables, interfaces: [] } } }, ['Gateway dynamodb']],
    [{ create: { cidr: '10.20.0.0/24', interfaces: ['sqs'] } }, ['Gateway dynamodb', 'Interface sqs']],
    [{ create: { cidr: '10.20.0.0/24', interfaces: [] } }, ['Gateway dynamodb']],
  ])('endpoints that the account has elsewhere are left out: %j', (network, wanted) => {
    const template = ofStage({ network });
    expect(endpoints(template)).toEqual(wanted);
    const groups = propertiesOf(template, 'EC2::SecurityGroup');
    const own = groups.filter(({ GroupDescription }) => GroupDescription.startsWith('Endpoints'));
    expect(own).toHaveLength(wanted.some((name) => name.startsWith('Interface')) ? 1 : 0);
  });

  it('all functions run in the network if the configuration says so', () => {
    const template = synthesize('central-endpoints', everything, customOfEach(1)).template();
    expect(inside(template)).toEqual(SLUGS);
  });

  it('only functions in the network call through its proxy, except for addresses with an endpoint there', () => {
    const proxy = { url: 'http://proxy.corp.example.com:3128', except: ['.corp.example.com'] };
    const services = ['dynamodb', '.ddb', 'sqs', 'secretsmanager'];
    const withEndpoint = services.map((service) => `${service}.AWS::Region.AWS::URLSuffix`);
    for (const [network, direct] of [
      [{ existing }, proxy.except],
      [{ create: { cidr: '10.20.0.0/24' } }, [...withEndpoint, ...proxy.except]],
    ] as const) {
      const found = functions(ofStage({ network: { ...network, proxy } }), ({ Environment: { Variables } }) => {
        if (Variables.HTTPS_PROXY === undefined) return false;
        expect(Variables).toMatchObject({ NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: proxy.url });
        expect(inWords(Variables.NO_PROXY).split(',')).toEqual(direct);
        return true;
      });
      expect(found).toEqual(['credential-check', 'job-worker']);
    }
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

describe("a company's own certificate authority", () => {
  const caFile = 'test/company-ca/ca.pem';
  const trusting = (template: Template) =>
    propertiesOf(template, 'Lambda::Function')
      .filter(({ Environment }) => Environment.Variables.NODE_EXTRA_CA_CERTS === '/var/task/ca.pem')
      .map(({ FunctionName }) => FunctionName)
      .sort();

  it('is bundled with the functions that call the service', async () => {
    const outdir = await mkdtemp(join(tmpdir(), 'partner-relay-synth-'));
    const { app, template } = synthesize('dev', { caFile }, { outdir, bundled: true });
    expect(trusting(template())).toEqual(['partner-relay-dev-credential-check', 'partner-relay-dev-job-worker']);
    expect(trusting(synthesize('central-endpoints', { caFile }).template())).toHaveLength(6);
    app.synth();
    const bundled = globSync('asset.*/ca.pem', { cwd: outdir });
    expect(bundled).toHaveLength(2);
    for (const file of bundled) expect(readFileSync(join(outdir, file))).toEqual(readFileSync(caFile));
    await rm(outdir, { recursive: true });
  });

  it('a missing or invalid certificate file fails the synthesis', () => {
    const why = /caFile of relay.config.ts, .*company.pem, cannot be/;
    expect(() => synthesize('dev', { caFile: 'company.pem' })).toThrow(why);
  });
});
