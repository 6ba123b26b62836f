import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { DomainName, HttpApi, HttpMethod, HttpStage, LogGroupLogDestination } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { type IMetric, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { FunctionUrlAuthType } from 'aws-cdk-lib/aws-lambda';
import type { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { RelayConfig } from '../lib/config/schema.ts';
import { acknowledge } from './acknowledge.ts';
import type { Keyed } from './keyed.ts';
import type { Stage } from './stage.ts';

/** The public endpoint of a webhook. */
export interface Door {
  url: string;
  /** The number of requests answered with 5xx, per minute. */
  serverErrors: IMetric;
}

/** Gives webhooks a public URL. */
export interface Entrance {
  /** @param path the webhook's path, such as `/github`, used if several webhooks share one entrance */
  open(webhook: NodejsFunction, path: string): Door;
}

const A_MINUTE = { statistic: 'Sum', period: Duration.minutes(1) };

/** A function URL. It has no IAM authorization: callers are authenticated by the signature of the body. */
export const functionUrls: Entrance = {
  open: (webhook) => ({
    url: webhook.addFunctionUrl({ authType: FunctionUrlAuthType.NONE }).url,
    serverErrors: webhook.metric('Url5xxCount', A_MINUTE),
  }),
};

export interface HttpEntranceProps extends Keyed {
  stage: Stage;
  config: RelayConfig;
  settings: NonNullable<Stage['settings']['httpApi']>;
}

/** One HTTP API for all webhooks, for accounts that do not allow function URLs. */
export class HttpEntrance extends Construct implements Entrance {
  readonly #api: HttpApi;
  readonly #url: string;

  constructor(scope: Construct, id: string, { stage, config, settings, key }: HttpEntranceProps) {
    super(scope, id);
    const { requestsPerSecond, burst, domain } = settings;
    const name = Stack.of(this).stackName;
    const log = new LogGroup(this, 'Log', {
      logGroupName: `/aws/apigateway/${name}`,
      retention: config.deployment.logRetentionDays as RetentionDays,
      removalPolicy: stage.removalPolicy,
      ...(key && { encryptionKey: key }),
    });
    this.#api = new HttpApi(this, 'Api', {
      apiName: name,
      createDefaultStage: false,
      // Otherwise callers could bypass the custom domain.
      disableExecuteApiEndpoint: domain !== undefined,
    });
    const domainName =
      domain &&
      new DomainName(this, 'Domain', {
        domainName: domain.name,
        certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
      });
    new HttpStage(this, 'Stage', {
      httpApi: this.#api,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: requestsPerSecond, burstLimit: burst },
      detailedMetricsEnabled: true,
      accessLogSettings: { destination: new LogGroupLogDestination(log) },
      ...(domainName && { domainMapping: { domainName } }),
    });
    this.#url = domain ? `https://${domain.name}` : this.#api.apiEndpoint;
    if (domainName) {
      new CfnOutput(Stack.of(this), 'DomainTarget', {
        value: domainName.regionalDomainName,
        description: `The CNAME of ${domain?.name}`,
      });
    }
  }

  open(webhook: NodejsFunction, path: string): Door {
    const [route] = this.#api.addRoutes({
      path,
      methods: [HttpMethod.POST],
      integration: new HttpLambdaIntegration(webhook.node.path, webhook),
    });
    if (route) {
      acknowledge(route, 'AwsSolutions-APIG4', 'Callers are authenticated by the signature of the body.');
    }
    return {
      url: this.#url + path,
      serverErrors: new Metric({
        namespace: 'AWS/ApiGateway',
        metricName: '5xx',
        dimensionsMap: { ApiId: this.#api.apiId, Stage: '$default', Method: 'POST', Resource: path },
        ...A_MINUTE,
      }),
    };
  }
}
