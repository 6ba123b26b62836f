import { join } from 'node:path';
import { type Duration, Stack } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, LoggingFormat, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction, OutputFormat, SourceMapMode } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Lane } from '../lib/budget/budget.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import { acknowledge } from './acknowledge.ts';
import type { Alarms } from './alarms.ts';
import type { JobQueue } from './job-queue.ts';
import type { Secrets } from './secrets.ts';
import type { Stage } from './stage.ts';
import type { StateTable, TableAccess } from './state-table.ts';

const ROOT = join(import.meta.dirname, '..');
/** Where `relay stack-trace` finds the source maps of what was built last. */
export const SOURCE_MAPS = join(ROOT, 'cdk.out', 'source-maps');

/** What the parts of the stack share. */
export interface RelayParts {
  stage: Stage;
  deployment: RelayConfig['deployment'];
  alarms: Alarms;
  table: StateTable;
  secrets: Secrets;
  queues: Readonly<Record<Lane, JobQueue>>;
}

export interface RelayFunctionProps extends RelayParts {
  /** Of its file in functions/. */
  slug: string;
  memoryMegabytes: number;
  timeout: Duration;
  tableAccess: TableAccess;
  reservedConcurrency?: number | undefined;
}

/** One of functions/, with its log group and a role that may do nothing but log, trace and use the table. */
export class RelayFunction extends Construct {
  readonly function: NodejsFunction;

  constructor(scope: Construct, id: string, props: RelayFunctionProps) {
    super(scope, id);
    const { slug, stage, deployment, table, secrets, queues } = props;
    const name = `${Stack.of(this).stackName}-${slug}`;
    const logGroup = new LogGroup(this, 'Log', {
      logGroupName: `/aws/lambda/${name}`,
      retention: deployment.logRetentionDays as RetentionDays,
      removalPolicy: stage.removalPolicy,
    });
    // The managed policy would let the function write to every log group of the account.
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(role);

    this.function = new NodejsFunction(this, 'Function', {
      functionName: name,
      entry: join(ROOT, 'functions', `${slug}.ts`),
      depsLockFilePath: join(ROOT, 'package-lock.json'),
      projectRoot: ROOT,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: props.memoryMegabytes,
      timeout: props.timeout,
      role,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      tracing: Tracing.ACTIVE,
      ...(props.reservedConcurrency !== undefined && { reservedConcurrentExecutions: props.reservedConcurrency }),
      environment: {
        STAGE: stage.name,
        TABLE_NAME: table.table.tableName,
        INTERACTIVE_QUEUE_URL: queues.interactive.queue.queueUrl,
        BACKGROUND_QUEUE_URL: queues.background.queue.queueUrl,
        SECRET_PREFIX: secrets.prefix,
      },
      bundling: {
        format: OutputFormat.ESM,
        target: 'node24',
        mainFields: ['module', 'main'],
        minify: true,
        // The SDK of the runtime is another version than the one that was tested, and no faster to load.
        bundleAwsSDK: true,
        sourceMap: true,
        sourceMapMode: SourceMapMode.EXTERNAL,
        commandHooks: {
          beforeBundling: () => [],
          beforeInstall: () => [],
          // Not in the bundle, where it would be half of what a cold start has to load.
          afterBundling: (_, output) => [
            `mkdir -p "${SOURCE_MAPS}"`,
            `mv "${output}/index.mjs.map" "${join(SOURCE_MAPS, `${slug}.mjs.map`)}"`,
          ],
        },
      },
    });
    // Active tracing lets it write traces, for which X-Ray has no resource to name but *.
    acknowledge(role, 'AwsSolutions-IAM5[Resource::*]', 'X-Ray has no resource to name but *.');
    table.grant(this.function, props.tableAccess);
  }
}
