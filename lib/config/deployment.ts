import * as z from 'zod';
import { ONE_MACHINE } from './environment.ts';
import { offByDefault, setting, textLike, wholeNumber } from './kinds.ts';
import { slackChannel } from './names.ts';

/** Retention periods that CloudWatch Logs accepts (PutRetentionPolicy, API reference). */
const LOG_RETENTION_DAYS = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

const concurrency = wholeNumber(2, 1_000);

const arn = (service: string) =>
  textLike(new RegExp(`^arn:aws[a-z-]*:${service}:`), `expected an ARN that begins with arn:aws:${service}:`);

const idsOf = (prefix: string) =>
  z.array(textLike(new RegExp(`^${prefix}-[0-9a-f]+$`), `expected an id such as ${prefix}-0a1b2c3d`)).min(1);

/** The AWS services that the functions call through an interface endpoint. DynamoDB has a gateway endpoint. */
const INTERFACES = ['sqs', 'secretsmanager'] as const;

const interfaces = setting(
  z.array(z.enum(INTERFACES)).default([...INTERFACES]),
  'The interface endpoints that the stack creates. Leave out those that the network reaches elsewhere, such as ' +
    'endpoints in a central VPC.',
  ['sqs'],
  [],
);

const proxy = z.strictObject({
  url: setting(
    textLike(/^https?:\/\/[^/@\s]+$/, 'expected an address such as http://proxy.example.com:3128, without a user'),
    'Its address, without user name and password, because anyone who can read the stack can read it.',
    'http://proxy.example.com:3128',
  ),
  except: setting(
    z.array(textLike(/^[^,\s]+$/, 'expected a host such as pm.example.com or .example.com')).default([]),
    'Hosts that are called directly: a name, `.example.com` for all names below it, or an address. AWS services ' +
      'whose endpoint the stack creates are called directly in any case.',
    ['.corp.example.com', '.eu-central-1.amazonaws.com'],
  ),
});

const existingVpc = z.strictObject({
  vpcId: setting(textLike(/^vpc-[0-9a-f]+$/, 'expected an id such as vpc-0a1b2c3d'), 'The VPC.', 'vpc-0a1b2c3d'),
  subnetIds: setting(idsOf('subnet'), 'Private subnets. A function in a public subnet cannot reach the internet.', [
    'subnet-0a1b2c3d',
    'subnet-1a2b3c4d',
  ]),
  securityGroupIds: setting(idsOf('sg'), 'The security groups of the functions.', ['sg-0a1b2c3d']),
  endpoints: setting(
    z
      .strictObject({
        routeTableIds: setting(
          idsOf('rtb').optional(),
          'The route tables for the endpoint of DynamoDB. Leave them out if they have one.',
          ['rtb-0a1b2c3d'],
        ),
        interfaces,
      })
      .optional(),
    'Creates endpoints for DynamoDB in these route tables, and for SQS and Secrets Manager in the subnets. Leave it ' +
      'out if the VPC has them, or another way to AWS.',
  ),
});

const newVpc = z.strictObject({
  cidr: setting(
    textLike(/^(\d{1,3}\.){3}\d{1,3}\/(1[6-9]|2[0-5])$/, 'expected a range such as 10.20.0.0/24'),
    'Its addresses, from /16 to /25: two zones, with a public and a private subnet each.',
    '10.20.0.0/24',
  ),
  interfaces,
});

const httpApi = z.strictObject({
  requestsPerSecond: setting(z.int().min(1).default(50), 'API Gateway answers requests beyond this rate with 429.', 20),
  burst: setting(z.int().min(1).default(100), 'How many requests may come at once.', 40),
  domain: setting(
    z.strictObject({ name: z.hostname(), certificateArn: arn('acm') }).optional(),
    'A domain of your own, with its certificate in the same region.',
    {
      name: 'relay.example.com',
      certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/0a1b2c3d-0000-0000-0000-000000000000',
    },
  ),
});

const stage = z.strictObject({
  protected: offByDefault('Turns on termination protection, and keeps the data when you remove the stack.'),
  bootstrapQualifier: setting(
    textLike(/^[a-z0-9]{1,10}$/, 'expected up to 10 lowercase letters and digits').default('relay'),
    'The qualifier of `cdk bootstrap` whose roles deploy the stage. Deployments from GitHub Actions need one for each ' +
      "stage, so that one stage's workflow cannot deploy another. The policies in `docs/policies/` expect that it begins " +
      'with `relay`.',
    'relayprod',
  ),
  network: setting(
    z
      .strictObject({
        existing: setting(existingVpc.optional(), 'A VPC that exists already.'),
        create: setting(
          newVpc.optional(),
          'A VPC that the stack creates, with a NAT gateway whose Elastic IP is an output.',
        ),
        allFunctions: offByDefault('Runs every function in the network, also those that do not call the service.'),
        proxy: setting(
          proxy.optional(),
          'The proxy through which the functions in the network make all calls with https (`HTTPS_PROXY`).',
        ),
      })
      .refine(({ existing, create }) => !existing !== !create, 'expected either existing or create')
      .optional(),
    'The network of the functions that call the service (job-worker, credential-check and account-link), or of all: ' +
      'either `existing` or `create`. Without it, they run outside a VPC.',
  ),
  table: setting(
    z
      .strictObject({
        existing: setting(
          textLike(/^[\w.-]{3,255}$/, 'expected the name of a DynamoDB table'),
          'Its name. It must be in the account and the region of the stage.',
          'partner-relay-prod-restored',
        ),
      })
      .optional(),
    'A table that exists, such as a restored one, in place of one that the stack makes. The stack does not change ' +
      'it. See [Recover a stage](recovery.md#restore-the-table).',
  ),
  existingSecrets: setting(
    z.array(textLike(/^[a-z0-9-]+(\/[a-z0-9-]+)?$/, 'expected the name of a secret such as partner/main')).default([]),
    'Secrets that exist already, such as those that an earlier deployment of a protected stage left. The stack uses ' +
      'them and does not change them. See [Remove and redeploy a stage](deploy.md#remove-and-redeploy-a-stage).',
    ['markers', 'partner/main'],
  ),
  replicaRegion: setting(
    textLike(/^[a-z]{2}(-[a-z]+)+-\d$/, 'expected a region such as eu-west-1').optional(),
    'A region in which Secrets Manager keeps a replica of `markers`, for when the region of the stage is lost. See ' +
      '[The region is lost](recovery.md#the-region-is-lost).',
    'eu-west-1',
  ),
  httpApi: setting(httpApi.optional(), 'An API Gateway HTTP API instead of function URLs.'),
  slackAlarms: setting(
    z
      .strictObject({
        workspaceId: textLike(/^T[A-Z0-9]+$/, 'expected an id such as T0123ABCD'),
        channelId: slackChannel,
      })
      .optional(),
    'A channel that gets the alarms, in a workspace that is authorized in Amazon Q Developer in chat applications. ' +
      'An account can configure a channel only once, for all stages and regions: for a second stage, add its output ' +
      '`AlarmTopicArn` to the configuration of the channel in the console of AWS.',
    { workspaceId: 'T0123ABCD', channelId: 'C0123ABCD' },
  ),
  accountConcurrency: setting(
    z.int().min(10).optional(),
    'Concurrent executions of Lambda that the account leaves to the relay in this region; `npx partner-relay doctor` says how ' +
      'many. If there are enough, the stack reserves executions for each function that is open to the internet: as ' +
      'many as the worker has, and at least 10. A flood then costs less, and leaves other functions their executions.',
    1_000,
  ),
  kmsKeyArn: setting(
    arn('kms').optional(),
    "A key of your own for the table, the queues, the secrets, the logs, the alarms and the functions' environment.",
    'arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d-0000-0000-0000-000000000000',
  ),
  formerKmsKeyArn: setting(
    arn('kms').optional(),
    'The previous `kmsKeyArn`. The functions may still decrypt with it, because waiting messages are encrypted with ' +
      'it. Remove it after two weeks: no message is older. An attached table and `existingSecrets` still need it.',
    'arn:aws:kms:eu-central-1:123456789012:key/9f8e7d6c-0000-0000-0000-000000000000',
  ),
  permissionsBoundaryArn: setting(
    arn('iam').optional(),
    'A managed policy that becomes the permissions boundary of every role.',
    'arn:aws:iam::123456789012:policy/boundary',
  ),
  rolePath: setting(
    textLike(/^\/([\w+=,.@-]+\/)*$/, 'expected a path such as /service/relay/').optional(),
    'The path of every role.',
    '/service/relay/',
  ),
  tags: setting(
    z.record(z.string().min(1).max(128), z.string().max(256)).default({}),
    'Tags for all resources that can have tags.',
    { 'cost-center': '4711' },
  ),
});

const stageName = textLike(
  /^[a-z][a-z0-9-]{0,19}$/,
  'expected up to 20 lowercase letters, digits and hyphens, with a letter first',
).refine((name) => name !== ONE_MACHINE, `'${ONE_MACHINE}' is the relay on one machine; choose another name`);

/** Settings of the deployment on AWS. They have no effect on one machine. */
export const deployment = z.strictObject({
  stages: setting(
    z.record(stageName, stage).prefault({ dev: {}, prod: { protected: true } }),
    'The stages that `deploy --stage <stage>` takes, by name, with what depends on the account and its region.',
  ),
  alarms: setting(
    z
      .strictObject({
        emails: setting(
          z.array(z.email()).default([]),
          'Addresses that receive alarms. Each must confirm the subscription in an e-mail.',
          ['ops@example.com'],
        ),
      })
      .prefault({}),
    'Where alarms go. A protected stage needs an address here, or `slackAlarms`.',
  ),
  maxConcurrency: setting(
    z
      .strictObject({
        interactive: setting(concurrency.default(5), 'For commands that people wait for.', 10),
        background: setting(
          concurrency.optional(),
          'For everything else. By default 5 if the repositories use one connection. If they use several, 5 for each, up to 20 connections, and 5 more.',
          20,
        ),
      })
      .prefault({}),
    'How many workers run at a time, for each queue.',
  ),
  logRetentionDays: setting(
    z
      .int()
      .refine((days) => LOG_RETENTION_DAYS.includes(days), `expected one of ${LOG_RETENTION_DAYS.join(', ')}`)
      .default(30),
    `How long logs are kept: ${LOG_RETENTION_DAYS.join(', ')} days.`,
    90,
  ),
});

export type StageSettings = z.output<typeof stage>;
