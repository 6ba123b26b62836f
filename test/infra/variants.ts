import type { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import type { CustomFiles } from '../../infra/bundle/custom-build.ts';
import { createApp } from '../../infra/cdk-app.ts';
import { RelayStack } from '../../infra/relay-stack.ts';
import { readStage } from '../../infra/stage.ts';
import { defineConfig, type RelayConfigInput } from '../../lib/config/schema.ts';
import none, { type CustomAutomation } from '../../lib/triggers/custom-automation.ts';
import { teamInput } from '../timesheets/team.ts';

type Deployment = NonNullable<RelayConfigInput['deployment']>;
export type StageInput = NonNullable<Deployment['stages']>[string];

const ACCOUNT = 'eu-central-1:111122223333';

const existing = {
  vpcId: 'vpc-0a1b2c3d',
  subnetIds: ['subnet-0a1b2c3d', 'subnet-1a1b2c3d'],
  securityGroupIds: ['sg-0a1b2c3d'],
};

const rules: StageInput = {
  kmsKeyArn: `arn:aws:kms:${ACCOUNT}:key/1234abcd-12ab-34cd-56ef-1234567890ab`,
  permissionsBoundaryArn: 'arn:aws:iam::111122223333:policy/boundary',
  rolePath: '/service/relay/',
  tags: { 'cost-center': '4711' },
};

const slackAlarms = { workspaceId: 'T012345', channelId: 'C012345' };

/** Every way to deploy a stage. cdk-nag checks each here, and `npm run lint:aws` lints it. */
export const stages = {
  dev: {},
  prod: { protected: true, slackAlarms },
  'existing-vpc': { network: { existing } },
  'endpoints-vpc': { network: { existing: { ...existing, endpoints: { routeTableIds: ['rtb-0a1b2c3d'] } } } },
  'new-vpc': { network: { create: { cidr: '10.20.0.0/24' } } },
  'central-endpoints': {
    network: {
      existing: { ...existing, endpoints: { interfaces: ['sqs'] } },
      allFunctions: true,
      proxy: { url: 'http://proxy.corp.example.com:3128', except: ['secretsmanager.eu-central-1.amazonaws.com'] },
    },
  },
  'http-api': { httpApi: {} },
  domain: {
    httpApi: {
      domain: { name: 'relay.example.com', certificateArn: `arn:aws:acm:${ACCOUNT}:certificate/1234abcd` },
    },
  },
  'existing-table': { protected: true, slackAlarms, table: { existing: 'partner-relay-restored' } },
  rules,
  bounded: { accountConcurrency: 1_000 },
  company: { ...rules, protected: true, slackAlarms, httpApi: {}, network: { create: { cidr: '10.20.0.0/24' } } },
} satisfies Record<string, StageInput>;

export type StageName = keyof typeof stages;

/** All optional parts of a configuration. */
export const everything: Partial<RelayConfigInput> = {
  connections: { main: { mcp: { accounts: 'offered' } }, other: {} },
  slack: { connection: 'main' },
  timesheets: { teams: [{ ...teamInput, absence: { calendar: true } }] },
  deployment: { alarms: { emails: ['ops@example.com'] } },
};

const withoutOwn: CustomFiles = { custom: none, files: [] };

const ofCommand = { does: '', example: '', permission: undefined, inComments: false };

/** A team's automations, this many of each kind. */
export const customOfEach = (count: number): { own: CustomFiles } => {
  const list = Array.from({ length: count }, (_, index): CustomAutomation[] => [
    { name: `release-${index}`, kind: 'github', events: ['release.published'], by: 'anyone' },
    { name: `alert-${index}`, kind: 'webhook', verify: { by: 'standard' }, connection: 'main' },
    { name: `weekly-${index}`, kind: 'schedule', cron: '0 9 * * MON', timeZone: 'UTC', connection: 'main' },
    { name: `word-${index}`, kind: 'command', usage: `word-${index}`, ...ofCommand },
  ]);
  return { own: { custom: { ...none, list: list.flat() }, files: [] } };
};

/** The properties of all resources of a type. */
export const propertiesOf = (template: Template, type: string) =>
  Object.values(template.findResources(`AWS::${type}`)).map(({ Properties }) => Properties);

/** Synthesizes the stack, mostly without its bundles, which take long. */
export function synthesize(
  stageName: StageName,
  also: Partial<RelayConfigInput> = {},
  { outdir, bundled = false, own = withoutOwn }: { outdir?: string; bundled?: boolean; own?: CustomFiles } = {},
) {
  const app = createApp({
    context: { 'aws:cdk:bundling-stacks': bundled ? ['**'] : [] },
    ...(outdir !== undefined && { outdir }),
    // This takes most of the time. The linter validates the template of each stage.
    builtinCloudFormationValidation: outdir !== undefined,
  });
  const config = defineConfig({
    connections: { main: {}, other: {} },
    ...also,
    deployment: { stages, alarms: { emails: ['ops@example.com'] }, ...also.deployment },
  });
  const relay = { config, own, stage: readStage(stageName, config) };
  const stack: Stack = new RelayStack(app, `partner-relay-${stageName}`, relay);
  return { app, stack, template: () => Template.fromStack(stack) };
}
