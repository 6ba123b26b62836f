import { CfnOutput, Stack, Tags } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { RelayConfig } from '../lib/config/schema.ts';
import { Alarms } from './alarms.ts';
import { Dashboard } from './dashboard.ts';
import { JobQueue } from './job-queue.ts';
import { JobWorker } from './job-worker.ts';
import { addSchedules } from './schedules.ts';
import { Secrets } from './secrets.ts';
import type { Stage } from './stage.ts';
import { addStateAlarms } from './state-alarms.ts';
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
    const secrets = new Secrets(this, 'Secrets', { stage, config });
    const interactive = new JobQueue(this, 'InteractiveQueue', { lane: 'interactive', stage, alarms });
    const background = new JobQueue(this, 'BackgroundQueue', { lane: 'background', stage, alarms });
    const relay = { stage, config, alarms, table, secrets, queues: { interactive, background } };

    const githubWebhook = new WebhookEndpoint(this, 'GithubWebhook', {
      slug: 'github-webhook',
      secret: 'github',
      tableAccess: { items: ['GetItem', 'PutItem', 'UpdateItem'] },
      refused: {
        means: 'GitHub does not send it again by itself.',
        todo: 'github-redelivery asks GitHub to deliver it again, for three days, if it may.',
      },
      ...relay,
    });
    const slackWebhook =
      config.slack &&
      new WebhookEndpoint(this, 'SlackWebhook', {
        slug: 'slack-webhook',
        secret: 'slack',
        // Query is for what somebody asked for last.
        tableAccess: { items: ['GetItem', 'PutItem', 'UpdateItem', 'Query'] },
        refused: { means: 'the person in Slack was shown an error.', todo: 'They give the command again.' },
        ...relay,
      });
    const worker = new JobWorker(this, 'JobWorker', relay);
    const scheduled = addSchedules(this, relay);
    addStateAlarms(alarms, config);
    const functions = [
      githubWebhook.function,
      ...(slackWebhook ? [slackWebhook.function] : []),
      worker.function,
      ...scheduled,
    ];
    const dashboard = new Dashboard(this, 'Dashboard', {
      stage,
      connections: Object.keys(config.connections),
      functions,
    });

    const console = `https://${this.region}.console.aws.amazon.com`;
    const outputs = {
      GithubWebhookUrl: githubWebhook.url,
      ...(slackWebhook && { SlackWebhookUrl: slackWebhook.url }),
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
