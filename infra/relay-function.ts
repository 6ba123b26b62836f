import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Duration, Stack, Stage } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, LoggingFormat, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import { LogLevel, NodejsFunction, OutputFormat, SourceMapMode } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { readCertificates } from '../lib/config/ca-file.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import type { QueueName } from '../lib/jobs/queue.ts';
import { acknowledge } from './acknowledge.ts';
import type { Alarms } from './alarms.ts';
import { bundleAliases, bundleOptions } from './bundle/options.ts';
import type { JobQueue } from './job-queue.ts';
import type { Keyed } from './keyed.ts';
import type { Network } from './network.ts';
import type { Secrets } from './secrets.ts';
import type { Stage as RelayStage } from './stage.ts';
import type { StateTable } from './state-table.ts';

const ROOT = join(import.meta.dirname, '..');
/** Where Lambda unpacks a function's code. */
const CODE = '/var/task';
const CA_FILE = 'ca.pem';

/** What the parts of the stack share. */
export interface RelayParts extends Keyed {
  config: RelayConfig;
  stage: RelayStage;
  alarms: Alarms;
  table: StateTable;
  secrets: Secrets;
  queues: Readonly<Record<QueueName, JobQueue>>;
  /** Where the functions run that call the service; by default, wherever Lambda runs them. */
  network: Network | undefined;
}

export interface RelayFunctionProps extends RelayParts {
  /** Of its file in functions/. */
  slug: string;
  memoryMegabytes: number;
  timeout: Duration;
  /** Whether it runs in the network, and trusts the configured authorities. */
  callsService: boolean;
  /** What is late or lost while it may not run. */
  throttled: string;
  reservedConcurrency?: number | undefined;
}

/** One of functions/, with its log group and a role that may do nothing but log and use its part of the table. */
export class RelayFunction extends Construct {
  readonly function: NodejsFunction;

  constructor(scope: Construct, id: string, props: RelayFunctionProps) {
    super(scope, id);
    const { slug, stage, config, table, secrets, queues, key, alarms } = props;
    const network = props.callsService ? props.network : undefined;
    const caFile = props.callsService ? findCaFile(config) : undefined;
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
      ...(key && { encryptionKey: key }),
    });
    // The managed policy would let the function write to every log group of the account.
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(role);
    network?.connect(role, name);
    // Of the table, the queues and the secrets.
    key?.grantEncryptDecrypt(role);

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
      tracing: config.deployment.tracing ? Tracing.ACTIVE : Tracing.DISABLED,
      ...(key && { environmentEncryption: key }),
      ...(network && {
        vpc: network.vpc,
        vpcSubnets: { subnets: [...network.subnets] },
        securityGroups: [...network.securityGroups],
      }),
      ...(props.reservedConcurrency !== undefined && { reservedConcurrentExecutions: props.reservedConcurrency }),
      environment: {
        STAGE: stage.name,
        TABLE_NAME: table.table.tableName,
        INTERACTIVE_QUEUE_URL: queues.interactive.queue.queueUrl,
        BACKGROUND_QUEUE_URL: queues.background.queue.queueUrl,
        SECRET_PREFIX: secrets.prefix,
        ...(caFile && { NODE_EXTRA_CA_CERTS: `${CODE}/${CA_FILE}` }),
      },
      bundling: {
        ...bundleOptions,
        format: OutputFormat.ESM,
        logLevel: LogLevel.WARNING,
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
            ...(caFile ? [`cp "${caFile}" "${output}/${CA_FILE}"`] : []),
          ],
        },
      },
    });
    if (config.deployment.tracing) {
      acknowledge(role, 'AwsSolutions-IAM5[Resource::*]', 'X-Ray has no resource to name but *.');
    }
    table.grant(this.function, slug);

    alarms.add(this.function.metricThrottles({ statistic: 'Sum', period: Duration.minutes(1) }), `${slug}-throttles`, {
      threshold: 1,
      broken: `Lambda refused to run ${slug}, because too many functions run at the same time: ${props.throttled}`,
      todo: 'npm run -s relay -- --stage <stage> doctor compares the concurrency of the account with what the relay needs; docs/deploy.md says how to raise it.',
    });
  }
}

/** @throws {Error} for a file that is missing or holds no certificate */
function findCaFile({ caFile }: RelayConfig): string | undefined {
  if (caFile === undefined) return undefined;
  const file = resolve(ROOT, caFile);
  readCertificates(file);
  return file;
}

/** The configuration as the functions get it, beside the source maps. @returns its path */
function writeConfig(config: RelayConfig, outdir: string): string {
  const file = resolve(outdir, 'relay.config.json');
  mkdirSync(outdir, { recursive: true });
  writeFileSync(file, JSON.stringify(config));
  return file;
}
