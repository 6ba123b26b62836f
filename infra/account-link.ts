import { Duration } from 'aws-cdk-lib';
import { HttpMethod } from 'aws-cdk-lib/aws-apigatewayv2';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { reservedForOpen } from '../lib/config/capacity.ts';
import type { Entrance } from './entrance.ts';
import { RelayFunction, type RelayParts } from './relay-function.ts';

export interface AccountLinkProps extends RelayParts {
  entrance: Entrance;
}

/** The pages where people link their accounts. A browser opens them with a link from Slack, or with a cookie. */
export class AccountLink extends Construct {
  readonly function: LambdaFunction;
  /** The base URL of the pages, without a slash at the end. */
  readonly url: string;

  constructor(scope: Construct, id: string, props: AccountLinkProps) {
    super(scope, id);
    const { entrance, secrets, alarms, config } = props;
    this.function = new RelayFunction(this, 'Function', {
      ...props,
      slug: 'account-link',
      memoryMegabytes: 512,
      // Like the worker, it calls the service.
      callsService: true,
      throttled: 'people cannot link their accounts.',
      // Neither an HTTP API nor a person waits longer.
      timeout: Duration.seconds(30),
      reservedConcurrency: reservedForOpen(config, props.stage.settings, props.custom),
    }).function;
    secrets.grantRead(this.function, ['grants', 'instance']);
    const { url, serverErrors } = entrance.open(this.function, 'account-link', '/link', {
      '/start': [HttpMethod.GET, HttpMethod.POST],
      '/callback/{connection}': [HttpMethod.GET],
    });
    this.url = url;

    alarms.add(serverErrors, 'account-link-5xx', {
      broken: 'account-link answered 5xx: a person could not link their account.',
      todo: 'Read the log of the function: it says whether the service did not answer, or what is wrong with it.',
    });
  }
}
