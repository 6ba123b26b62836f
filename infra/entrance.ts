import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { DomainName, HttpApi, HttpMethod, HttpStage, LogGroupLogDestination } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { type IMetric, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { FunctionUrlAuthType } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { RelayConfig } from '../lib/config/schema.ts';
import { acknowledge } from './acknowledge.ts';
import type { Keyed } from './keyed.ts';
import type { Stage } from './stage.ts';
import { sumOf } from './sum-of.ts';

/** The public endpoint of a webhook. */
export interface Door {
  url: string;
  /** The number of requests answered with 5xx, per minute. */
  serverErrors: IMetric;
}

/** The requests that a function accepts: `{ '/start': [HttpMethod.GET] }` */
export type Routes = Readonly<Record<string, readonly HttpMethod[]>>;

/** How requests from outside reach the webhooks. */
export interface Entrance {
  /** The numbers of requests answered with 4xx, per minute, for each webhook, or for the HTTP API of all. */
  readonly clientErrors: ReadonlyMap<string, IMetric>;
  /**
   * Opens a door for a function.
   *
   * @param path where several functions share one entrance: `/github`
   * @param routes the accepted methods, by the path below that one; by default a POST to the path itself
   */
  open(fn: LambdaFunction, slug: string, path: string, routes?: Routes): Door;
}

const A_MINUTE = { statistic: 'Sum', period: Duration.minutes(1) };

/** A URL for each function. It has no IAM authorization: the signature of the body authenticates callers. */
export class FunctionUrls implements Entrance {
  readonly clientErrors = new Map<string, IMetric>();

  open(fn: LambdaFunction, slug: string, path: string, routes?: Routes): Door {
    // The URL ends with a slash. Without routes, the function ignores the path.
    const { url } = fn.addFunctionUrl({ authType: FunctionUrlAuthType.NONE });
    this.clientErrors.set(slug, fn.metric('Url4xxCount', A_MINUTE));
    return { url: routes ? url + path.slice(1) : url, serverErrors: fn.metric('Url5xxCount', A_MINUTE) };
  }
}

export interface HttpEntranceProps extends Keyed {
  stage: Stage;
  config: RelayConfig;
  settings: NonNullable<Stage['settings']['httpApi']>;
}

/** One HTTP API for all webhooks, for accounts that do not allow function URLs. */
export class HttpEntrance extends Construct implements Entrance {
  readonly clientErrors: ReadonlyMap<string, IMetric>;
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
      // Otherwise, callers could bypass the custom domain.
      disableExecuteApiEndpoint: domain !== undefined,
    });
    const domainName =
      domain &&
      new DomainName(this, 'Domain', {
        domainName: domain.name,
        certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
      });
    const allRoutes = new HttpStage(this, 'Stage', {
      httpApi: this.#api,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: requestsPerSecond, burstLimit: burst },
      detailedMetricsEnabled: true,
      accessLogSettings: { destination: new LogGroupLogDestination(log) },
      ...(domainName && { domainMapping: { domainName } }),
    });
    // All routes share one limit. Requests beyond it get a 429, which counts here, too.
    this.clientErrors = new Map([['http-api', allRoutes.metricClientError(A_MINUTE)]]);
    this.#url = domain ? `https://${domain.name}` : this.#api.apiEndpoint;
    if (domainName) {
      new CfnOutput(Stack.of(this), 'DomainTarget', {
        value: domainName.regionalDomainName,
        description: `The CNAME of ${domain?.name}`,
      });
    }
  }

  open(fn: LambdaFunction, _slug: string, path: string, routes: Routes = { '': [HttpMethod.POST] }): Door {
    const integration = new HttpLambdaIntegration(fn.node.path, fn);
    const errors: Metric[] = [];
    for (const [below, methods] of Object.entries(routes)) {
      for (const route of this.#api.addRoutes({ path: path + below, methods: [...methods], integration })) {
        acknowledge(route, 'AwsSolutions-APIG4', 'The function itself authenticates its callers.');
      }
      errors.push(...methods.map((method) => this.#serverErrors(method, path + below)));
    }
    return { url: this.#url + path, serverErrors: sumOf(errors) };
  }

  #serverErrors(Method: HttpMethod, Resource: string): Metric {
    return new Metric({
      namespace: 'AWS/ApiGateway',
      metricName: '5xx',
      dimensionsMap: { ApiId: this.#api.apiId, Stage: '$default', Method, Resource },
      ...A_MINUTE,
    });
  }
}
