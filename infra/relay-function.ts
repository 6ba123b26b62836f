import { copyFileSync, cpSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Duration, FileSystem, Stack, Stage } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import {
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  type RecursiveLoop,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { readCertificates } from '../lib/config/ca-file.ts';
import type { QueueName } from '../lib/config/queues.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import { projectFolder } from '../lib/project.ts';
import type { CustomAutomations } from '../lib/triggers/custom-automation.ts';
import type { Alarms } from './alarms.ts';
import { writeConfig } from './bundle/custom-build.ts';
import { builtFunction } from './bundle/function-build.ts';
import type { JobQueue } from './job-queue.ts';
import type { Keyed } from './keyed.ts';
import { letLambdaConnect, type Network } from './network.ts';
import type { Running } from './running.ts';
import type { Secrets } from './secrets.ts';
import type { Stage as RelayStage } from './stage.ts';
import { ENCRYPT_AND_DECRYPT } from './stage-key.ts';
import type { StateTable } from './state-table.ts';

/** The directory in which Lambda unpacks a function's code. */
const CODE = '/var/task';
const CA_FILE = 'ca.pem';

/** What the constructs of the stack share. */
export interface RelayParts extends Keyed {
  config: RelayConfig;
  custom: CustomAutomations;
  /** Adds the team's automations to the folder of a function, if it is bundled. */
  addOwn: ((slug: string, folder: string) => void) | undefined;
  stage: RelayStage;
  alarms: Alarms;
  table: StateTable;
  secrets: Secrets;
  queues: Readonly<Record<QueueName, JobQueue>>;
  /** Undefined if all functions run outside a VPC. */
  network: Network | undefined;
  running: Running;
  /** The stage's former key, which may still have encrypted messages. */
  formerKey: IKey | undefined;
}

export interface RelayFunctionProps extends RelayParts {
  /** The name of the file in functions/, without the extension. */
  slug: string;
  memoryMegabytes: number;
  timeout: Duration;
  /** Whether the function always runs in the network, and trusts the configured certificate authorities. */
  callsService: boolean;
  /** What is late or lost while Lambda throttles the function, for the text of an alarm. */
  throttled: string;
  reservedConcurrency?: number | undefined;
  /** Whether Lambda stops the function if its own messages invoke it again and again, which is Lambda's default. */
  recursiveLoop?: RecursiveLoop;
}

/** A function of functions/, with its log group, and a role that can only write the log and use the items it needs. */
export class RelayFunction extends Construct {
  readonly function: LambdaFunction;

  constructor(scope: Construct, id: string, props: RelayFunctionProps) {
    super(scope, id);
    const { slug, stage, config, table, secrets, queues, key, alarms } = props;
    const network = props.network?.has(props) ? props.network : undefined;
    // A proxy of the network may decrypt the calls of all functions in it.
    const caFile = props.callsService || network ? findCaFile(config) : undefined;
    // The asset copies the folder.
    const folder = FileSystem.mkdtemp(`${slug}-`);
    if (Stack.of(this).bundlingRequired) this.bundle(folder, props);
    if (caFile) copyFileSync(caFile, join(folder, CA_FILE));
    const name = `${Stack.of(this).stackName}-${slug}`;
    const logGroup = new LogGroup(this, 'Log', {
      logGroupName: `/aws/lambda/${name}`,
      retention: config.deployment.logRetentionDays as RetentionDays,
      removalPolicy: stage.removalPolicy,
      ...(key && { encryptionKey: key }),
    });
    // AWS's managed policy would let the function write to every log group of the account.
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(role);
    letLambdaConnect(role, name);
    // For the table, the queues and the secrets.
    key?.grant(role, ...ENCRYPT_AND_DECRYPT);
    props.formerKey?.grant(role, 'kms:Decrypt');

    this.function = new LambdaFunction(this, 'Function', {
      functionName: name,
      code: Code.fromAsset(folder),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: props.memoryMegabytes,
      timeout: props.timeout,
      role,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      ...(key && { environmentEncryption: key }),
      ...(network && {
        vpc: network.vpc,
        vpcSubnets: { subnets: [...network.subnets] },
        securityGroups: [...network.securityGroups],
      }),
      ...(props.reservedConcurrency !== undefined && { reservedConcurrentExecutions: props.reservedConcurrency }),
      ...(props.recursiveLoop && { recursiveLoop: props.recursiveLoop }),
      environment: {
        STAGE: stage.name,
        TABLE_NAME: table.table.tableName,
        INTERACTIVE_QUEUE_URL: queues.interactive.queue.queueUrl,
        BACKGROUND_QUEUE_URL: queues.background.queue.queueUrl,
        SECRET_PREFIX: secrets.prefix,
        ...network?.environment,
        ...(caFile && { NODE_EXTRA_CA_CERTS: `${CODE}/${CA_FILE}` }),
      },
    });
    rmSync(folder, { recursive: true });
    table.grant(this.function, slug);

    alarms.add(this.function.metricThrottles({ statistic: 'Sum', period: Duration.minutes(1) }), `${slug}-throttles`, {
      broken: `Lambda throttled ${slug}, because too many functions run at the same time: ${props.throttled}`,
      todo: 'npx partner-relay --stage <stage> doctor compares the concurrency of the account with what the relay needs. docs/deploy.md explains how to raise it.',
    });
  }

  private bundle(folder: string, { slug, config, addOwn }: RelayFunctionProps): void {
    const { outdir } = Stage.of(this) ?? {};
    if (!outdir) throw new Error('a RelayFunction needs an app with an outdir as its root');
    cpSync(builtFunction(slug, resolve(outdir)), folder, { recursive: true });
    writeConfig(config, folder);
    addOwn?.(slug, folder);
  }
}

/** Returns the path of the certificates. @throws {Error} if the file is missing or contains no certificate */
function findCaFile({ caFile }: RelayConfig): string | undefined {
  if (caFile === undefined) return undefined;
  const file = resolve(projectFolder(), caFile);
  readCertificates(file);
  return file;
}
