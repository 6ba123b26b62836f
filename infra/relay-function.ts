import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Duration, Stack, Stage } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, LoggingFormat, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction, OutputFormat, SourceMapMode } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Lane } from '../lib/budget/lanes.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import { acknowledge } from './acknowledge.ts';
import type { Alarms } from './alarms.ts';
import { bundleAliases, bundleOptions } from './bundle/options.ts';
import type { JobQueue } from './job-queue.ts';
import type { Secrets } from './secrets.ts';
import type { Stage as RelayStage } from './stage.ts';
import type { StateTable, TableAccess } from './state-table.ts';

const ROOT = join(import.meta.dirname, '..');
/** What the parts of the stack share. */
export interface RelayParts {
  config: RelayConfig;
  stage: RelayStage;
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
    const { slug, stage, config, table, secrets, queues } = props;
    // Beside the assets: cdk.out, where `relay stack-trace` finds the source maps of what was built last.
    const { outdir } = Stage.of(this) ?? {};
    if (!outdir) throw new Error('a function is deployed by an app');
    const configFile = writeConfig(config, outdir);
    const sourceMaps = join(outdir, 'source-maps');
    const name = `${Stack.of(this).stackName}-${slug}`;
    const logGroup = new LogGroup(this, 'Log', {
      logGroupName: `/aws/lambda/${name}`,
      retention: config.deployment.logRetentionDays as RetentionDays,
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
        ...bundleOptions,
        format: OutputFormat.ESM,
        bundleAwsSDK: true,
        esbuildArgs: Object.fromEntries(
          Object.entries(bundleAliases(configFile)).map(([from, to]) => [`--alias:${from}`, to]),
        ),
        sourceMap: true,
        sourceMapMode: SourceMapMode.EXTERNAL,
        commandHooks: {
          beforeBundling: () => [],
          beforeInstall: () => [],
          // Not in the bundle, where it would be half of what a cold start has to load.
          afterBundling: (_, output) => [
            `mkdir -p "${sourceMaps}"`,
            `mv "${output}/index.mjs.map" "${join(sourceMaps, `${slug}.mjs.map`)}"`,
          ],
        },
      },
    });
    // Active tracing lets it write traces, for which X-Ray has no resource to name but *.
    acknowledge(role, 'AwsSolutions-IAM5[Resource::*]', 'X-Ray has no resource to name but *.');
    table.grant(this.function, props.tableAccess);
  }
}

/** The configuration as the functions get it, beside the source maps. @returns its path */
function writeConfig(config: RelayConfig, outdir: string): string {
  const file = resolve(outdir, 'relay.config.json');
  mkdirSync(outdir, { recursive: true });
  writeFileSync(file, JSON.stringify(config));
  return file;
}
