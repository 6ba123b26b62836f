import { CfnOutput, Stack, Tags } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { RelayConfig } from '../lib/config/schema.ts';
import { Alarms } from './alarms.ts';
import { Dashboard } from './dashboard.ts';
import { JobQueue } from './job-queue.ts';
import { JobSweep } from './job-sweep.ts';
import { JobWorker } from './job-worker.ts';
import { Secrets } from './secrets.ts';
import type { Stage } from './stage.ts';
import { StateTable } from './state-table.ts';
import { WebhookEndpoint } from './webhook-endpoint.ts';

export interface RelayStackProps {
  config: RelayConfig;
  stage: Stage;
}

/** GitHub ─▶ github-webhook ─▶ job record ─▶ queue ─▶ job-worker ─▶ budget ─▶ partner API, and what looks after it. */
export class RelayStack extends Stack {
  constructor(scope: Construct, id: string, { config, stage }: RelayStackProps) {
    super(scope, id, {
      description: `Partner Relay, stage ${stage.name}`,
      terminationProtection: stage.isProduction,
    });
    Tags.of(this).add('project', 'partner-relay');
    Tags.of(this).add('stage', stage.name);

    const alarms = new Alarms(this, 'Alarms', { stage, to: config.deployment.alarms });
    const table = new StateTable(this, 'StateTable', { stage });
    const secrets = new Secrets(this, 'Secrets', { stage, connections: Object.keys(config.connections) });
    const interactive = new JobQueue(this, 'InteractiveQueue', { lane: 'interactive', stage, alarms });
    const background = new JobQueue(this, 'BackgroundQueue', { lane: 'background', stage, alarms });
    const relay = { stage, config, alarms, table, secrets, queues: { interactive, background } };

    const githubWebhook = new WebhookEndpoint(this, 'GithubWebhook', {
      slug: 'github-webhook',
      secret: 'github',
      ...relay,
    });
    const worker = new JobWorker(this, 'JobWorker', relay);
    const sweep = new JobSweep(this, 'JobSweep', { connections: Object.keys(config.connections), ...relay });
    const functions = [githubWebhook.function, worker.function, sweep.function];
    const dashboard = new Dashboard(this, 'Dashboard', {
      stage,
      connections: Object.keys(config.connections),
      functions,
    });

    const console = `https://${this.region}.console.aws.amazon.com`;
    const outputs = {
      GithubWebhookUrl: githubWebhook.url,
      Stage: stage.name,
      TableName: table.table.tableName,
      InteractiveQueueUrl: interactive.queue.queueUrl,
      BackgroundQueueUrl: background.queue.queueUrl,
      SecretPrefix: secrets.prefix,
      SecretNames: secrets.names.join(' '),
      DashboardLink: `${console}/cloudwatch/home?region=${this.region}#dashboards/dashboard/${dashboard.name}`,
      LogsLink: `${console}/cloudwatch/home?region=${this.region}#logsV2:log-groups$3FlogGroupNameFilter$3D${id}`,
      TableLink: `${console}/dynamodbv2/home?region=${this.region}#table?name=${table.table.tableName}`,
      SecretsLink: `${console}/secretsmanager/listsecrets?region=${this.region}`,
    };
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }
}
