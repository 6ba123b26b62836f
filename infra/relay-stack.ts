import { join } from 'node:path';
import { Arn, ArnFormat, Aspects, Aws, CfnMapping, CfnOutput, Stack, Stage, Tags } from 'aws-cdk-lib';
import { HttpMethod } from 'aws-cdk-lib/aws-apigatewayv2';
import { CfnRole, ManagedPolicy, PermissionsBoundary } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { RelayConfig } from '../lib/config/schema.ts';
import { linksAccounts } from '../lib/config/settings.ts';
import { FORM } from '../lib/state/table/form.ts';
import { customOf } from '../lib/triggers/custom-automation.ts';
import { VERSION } from '../lib/version.ts';
import { AccountLink } from './account-link.ts';
import { acknowledge } from './acknowledge.ts';
import { Alarms } from './alarms.ts';
import { type CustomFiles, writeCustom } from './bundle/custom-build.ts';
import { ConsolePolicies } from './console-policies.ts';
import { Dashboard } from './dashboard.ts';
import { FunctionUrls, HttpEntrance } from './entrance.ts';
import { addFloodAlarms } from './flood-alarms.ts';
import { JobQueue } from './job-queue.ts';
import { JobWorker } from './job-worker.ts';
import { Network } from './network.ts';
import { Running } from './running.ts';
import { addSchedules } from './schedules.ts';
import { Secrets } from './secrets.ts';
import { deployedBy, type Stage as RelayStage, StageError } from './stage.ts';
import { stageKey } from './stage-key.ts';
import { addStateAlarms } from './state-alarms.ts';
import { StateTable } from './state-table.ts';
import { WebhookEndpoint } from './webhook-endpoint.ts';

export interface RelayStackProps {
  config: RelayConfig;
  /** The team's automations. */
  own: CustomFiles;
  stage: RelayStage;
}

/**
 * The relay: GitHub and Slack ─▶ webhooks ─▶ job records ─▶ queues ─▶ job-worker ─▶ partner API, with its schedules and
 * alarms.
 */
export class RelayStack extends Stack {
  constructor(scope: Construct, id: string, { config, own: files, stage }: RelayStackProps) {
    const { kmsKeyArn } = stage.settings;
    // The command line finds a stage by the name of its stack.
    const stackName = `partner-relay-${stage.name}`;
    if (id !== stackName)
      throw new StageError(`the stack of the stage '${stage.name}' has the id '${id}': give it the id '${stackName}'`);
    super(scope, id, {
      stackName,
      description: `Partner Relay, stage ${stage.name}`,
      terminationProtection: stage.isProtected,
      synthesizer: deployedBy(stage.settings.bootstrapQualifier),
      // A table with a customer key needs a fixed region, which is the key's.
      ...(kmsKeyArn !== undefined && { env: { region: regionOf(kmsKeyArn) } }),
    });
    const { settings } = stage;
    const { custom } = files;
    const { outdir } = Stage.of(this) ?? {};
    const isBundled = this.bundlingRequired && outdir !== undefined;
    const addOwn = isBundled ? writeCustom(files, join(outdir, 'automations')) : undefined;
    this.#followRules(stage);

    const key = kmsKeyArn === undefined ? undefined : stageKey(this, 'Key', kmsKeyArn);
    const { formerKmsKeyArn } = settings;
    const formerKey = formerKmsKeyArn === undefined ? undefined : stageKey(this, 'FormerKey', formerKmsKeyArn);
    const network = settings.network && new Network(this, 'Network', settings.network);
    const entrance = settings.httpApi
      ? new HttpEntrance(this, 'Entrance', { stage, config, settings: settings.httpApi, key })
      : new FunctionUrls();
    const running = new Running(this, 'RunningState');
    const alarms = new Alarms(this, 'Alarms', { stage, emails: config.deployment.alarms.emails, running, key });
    const table = new StateTable(this, 'StateTable', { stage, config, custom, alarms, key });
    const secrets = new Secrets(this, 'Secrets', { stage, config, custom, table, key });
    const interactive = new JobQueue(this, 'InteractiveQueue', { lane: 'interactive', key, alarms });
    const background = new JobQueue(this, 'BackgroundQueue', { lane: 'background', key, alarms });
    const relay = {
      entrance,
      stage,
      config,
      custom,
      addOwn,
      alarms,
      table,
      secrets,
      queues: { interactive, background },
      network,
      key,
      formerKey,
      running,
    };

    const githubWebhook = new WebhookEndpoint(this, 'GithubWebhook', {
      slug: 'github-webhook',
      path: '/github',
      reads: ['github-webhook', 'intake'],
      refused: {
        means: 'GitHub does not retry it.',
        todo: 'github-redelivery requests it again for three days, if the credentials allow it.',
      },
      ...relay,
    });
    const slackWebhook =
      config.slack &&
      new WebhookEndpoint(this, 'SlackWebhook', {
        slug: 'slack-webhook',
        path: '/slack',
        reads: ['slack', 'intake'],
        refused: { means: 'the person in Slack saw an error.', todo: 'The person must give the command again.' },
        ...relay,
      });
    const hooksWebhook =
      customOf(custom, 'webhook').length > 0
        ? new WebhookEndpoint(this, 'HooksWebhook', {
            slug: 'hooks-webhook',
            path: '/hooks',
            routes: { '/{name}': [HttpMethod.POST] },
            reads: ['hooks'],
            refused: {
              means: 'whether it comes again is up to the sender.',
              todo: 'Where it does not come again by itself, send it again from the tool.',
            },
            ...relay,
          })
        : undefined;
    const accountLink = linksAccounts(config) ? new AccountLink(this, 'AccountLink', relay) : undefined;
    if (accountLink) slackWebhook?.function.addEnvironment('ACCOUNT_LINK_URL', accountLink.url);
    // While the stage is stopped, the function tells people that their commands wait.
    slackWebhook?.function.addEnvironment('RUNNING', running.either('true', 'false').toString());
    const worker = new JobWorker(this, 'JobWorker', relay);
    const schedules = addSchedules(this, relay);
    const scheduled = schedules.map((one) => one.function);
    // An upgrade first updates the functions that read new items, then the webhooks, which write the first. A rollback
    // has another order, so older functions leave newer items alone (lib/state/table/form.ts).
    for (const webhook of [githubWebhook, slackWebhook, hooksWebhook])
      webhook?.function.node.addDependency(worker.function, ...scheduled);
    addStateAlarms(alarms, config, custom);
    addFloodAlarms(alarms, entrance, config);
    const others = [githubWebhook, slackWebhook, hooksWebhook, accountLink, worker];
    const dashboard = new Dashboard(this, 'Dashboard', {
      stage,
      functions: [...others.flatMap((one) => one?.function ?? []), ...scheduled],
      deadLetters: [interactive, background].map((queue) => queue.deadLetters),
      failures: schedules.map((one) => one.failures),
    });

    const policies = new ConsolePolicies(this, 'Console', {
      table,
      queues: [interactive, background],
      secrets,
      scheduled,
      path: settings.rolePath,
      key,
    });

    const console = `https://${this.region}.${this.#consoleHost()}`;
    const outputs = {
      GithubWebhookUrl: githubWebhook.url,
      ...(slackWebhook && { SlackWebhookUrl: slackWebhook.url }),
      ...(hooksWebhook && { HooksUrl: hooksWebhook.url }),
      ...(accountLink && { AccountLinkUrl: accountLink.url }),
      Stage: stage.name,
      Version: VERSION,
      Form: `${FORM}`,
      TableName: table.table.tableName,
      InteractiveQueueUrl: interactive.queue.queueUrl,
      BackgroundQueueUrl: background.queue.queueUrl,
      SecretPrefix: secrets.prefix,
      ConsoleReadPolicyArn: policies.read.managedPolicyArn,
      ConsoleOperatePolicyArn: policies.operate.managedPolicyArn,
      ConsoleSecretsPolicyArn: policies.enterSecrets.managedPolicyArn,
      DashboardLink: `${console}/cloudwatch/home?region=${this.region}#dashboards/dashboard/${dashboard.name}`,
      LogsLink: `${console}/cloudwatch/home?region=${this.region}#logsV2:log-groups$3FlogGroupNameFilter$3D${id}`,
      TableLink: `${console}/dynamodbv2/home?region=${this.region}#table?name=${table.table.tableName}`,
      SecretsLink: `${console}/secretsmanager/listsecrets?region=${this.region}`,
    };
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }

  /** The host of AWS's console in the stage's partition, without the region. */
  #consoleHost(): string {
    const hosts = new CfnMapping(this, 'ConsoleHosts', {
      mapping: {
        aws: { host: 'console.aws.amazon.com' },
        'aws-cn': { host: 'console.amazonaws.cn' },
        'aws-us-gov': { host: 'console.amazonaws-us-gov.com' },
      },
    });
    return hosts.findInMap(Aws.PARTITION, 'host');
  }

  /** Applies settings that some accounts require for every resource. */
  #followRules({ name, settings }: RelayStage): void {
    for (const [tag, value] of Object.entries({ project: 'partner-relay', stage: name, ...settings.tags })) {
      Tags.of(this).add(tag, value);
    }
    const { kmsKeyArn, permissionsBoundaryArn, rolePath } = settings;
    if (kmsKeyArn !== undefined) {
      for (const action of ['ReEncrypt', 'GenerateDataKey']) {
        const reason = "The CDK's grants for queues include these actions; they apply only to the customer's key.";
        acknowledge(this, `AwsSolutions-IAM5[Action::kms:${action}*]`, reason);
      }
    }
    if (permissionsBoundaryArn !== undefined) {
      const boundary = ManagedPolicy.fromManagedPolicyArn(this, 'PermissionsBoundary', permissionsBoundaryArn);
      PermissionsBoundary.of(this).apply(boundary);
    }
    if (rolePath !== undefined) {
      Aspects.of(this).add({
        visit(construct) {
          if (construct instanceof CfnRole) construct.path = rolePath;
        },
      });
    }
  }
}

function regionOf(arn: string): string {
  const { region } = Arn.split(arn, ArnFormat.SLASH_RESOURCE_NAME);
  if (!region) throw new Error(`${arn} does not contain a region`);
  return region;
}
