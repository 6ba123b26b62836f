import * as z from 'zod';
import { slackChannel } from './names.ts';

/** Retention periods that CloudWatch Logs takes (PutRetentionPolicy, API reference). */
const LOG_RETENTION_DAYS = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

const concurrency = z.int().min(2).max(1_000);

const arn = (service: string) =>
  z.string().regex(new RegExp(`^arn:aws[a-z-]*:${service}:`), `expected an ARN that begins with arn:aws:${service}:`);

const idsOf = (prefix: string) =>
  z.array(z.string().regex(new RegExp(`^${prefix}-[0-9a-f]+$`), `expected an id such as ${prefix}-0a1b2c3d`)).min(1);

/** A VPC that is there already. */
const existingVpc = z.strictObject({
  vpcId: z.string().regex(/^vpc-[0-9a-f]+$/, 'expected an id such as vpc-0a1b2c3d'),
  /** Private ones: a function in a public subnet has no way to the internet. */
  subnetIds: idsOf('subnet'),
  securityGroupIds: idsOf('sg'),
  /**
   * Makes endpoints for DynamoDB, in these route tables, and for SQS and Secrets Manager, in the subnets. Leave it out
   * where the VPC has them, or another way to AWS.
   */
  endpoints: z.strictObject({ routeTableIds: idsOf('rtb') }).optional(),
});

/** A VPC that the stack makes, with a NAT gateway whose Elastic IP is an output. */
const newVpc = z.strictObject({
  /** From /16 to /25, for two zones with a public and a private subnet each. */
  cidr: z.string().regex(/^(\d{1,3}\.){3}\d{1,3}\/(1[6-9]|2[0-5])$/, 'expected a range such as 10.20.0.0/24'),
});

/** An API Gateway HTTP API in place of function URLs. */
const httpApi = z.strictObject({
  /** Requests beyond these are answered with 429. */
  requestsPerSecond: z.int().min(1).default(50),
  burst: z.int().min(1).default(100),
  /** A name of one's own, with its certificate in the same region. */
  domain: z.strictObject({ name: z.hostname(), certificateArn: arn('acm') }).optional(),
});

/** One deployment of the relay. What depends on the account and its region is said here. */
const stage = z.strictObject({
  /** Keeps data when the stack is removed, and refuses its removal. */
  protected: z.boolean().default(false),
  /** Where the functions run that call the service: job-worker and credential-check. */
  network: z
    .strictObject({ existing: existingVpc.optional(), create: newVpc.optional() })
    .refine(({ existing, create }) => !existing !== !create, 'expected either existing or create')
    .optional(),
  httpApi: httpApi.optional(),
  /** Encrypts the table, the queues, the secrets, the logs, the alarms and the functions' environment. */
  kmsKeyArn: arn('kms').optional(),
  /** A managed policy that every role gets as its boundary. */
  permissionsBoundaryArn: arn('iam').optional(),
  rolePath: z
    .string()
    .regex(/^\/([\w+=,.@-]+\/)*$/, 'expected a path such as /service/relay/')
    .optional(),
  /** On everything that takes tags. */
  tags: z.record(z.string().min(1).max(128), z.string().max(256)).default({}),
});

const stageName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,19}$/, 'expected up to 20 lowercase letters, digits and hyphens, with a letter first');

/** What the deployment into AWS needs to know; it means nothing on one machine. */
export const deployment = z.strictObject({
  /** The stages that `cdk deploy -c stage=…` takes. */
  stages: z.record(stageName, stage).prefault({ dev: {}, prod: { protected: true } }),
  alarms: z
    .strictObject({
      /** Each gets a mail in which it confirms that it wants alarms. */
      emails: z.array(z.email()).default([]),
      /** A channel of a Slack workspace that is authorised in Amazon Q Developer in chat applications. */
      slack: z
        .strictObject({
          workspaceId: z.string().regex(/^T[A-Z0-9]+$/, 'expected an id such as T0123ABCD'),
          channelId: slackChannel,
        })
        .optional(),
    })
    .prefault({}),
  /** How many workers run at a time, of each lane. */
  maxConcurrency: z
    .strictObject({ interactive: concurrency.default(5), background: concurrency.default(5) })
    .prefault({}),
  /**
   * Off by default: an account may have as few as 10 concurrent executions in all, and then no part of them can be
   * reserved.
   */
  reservedConcurrency: z
    .strictObject({ webhook: z.int().min(1).optional(), worker: z.int().min(1).optional() })
    .prefault({}),
  logRetentionDays: z
    .int()
    .refine((days) => LOG_RETENTION_DAYS.includes(days), `expected one of ${LOG_RETENTION_DAYS.join(', ')}`)
    .default(30),
  /**
   * X-Ray traces of the functions. X-Ray samples the first request of each second and 5% of the others, which is nearly
   * every request of the relay, and shows two bare segments of each.
   */
  tracing: z.boolean().default(false),
});

export type StageSettings = z.output<typeof stage>;
