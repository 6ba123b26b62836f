import { Duration } from 'aws-cdk-lib';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { reservedForOpen } from '../lib/config/capacity.ts';
import type { Entrance, Routes } from './entrance.ts';
import { RelayFunction, type RelayParts } from './relay-function.ts';
import type { SecretName } from './secrets.ts';

export interface WebhookEndpointProps extends RelayParts {
  slug: string;
  /** The path of the webhook's URL, if webhooks share the entrance. */
  path: string;
  entrance: Entrance;
  /** The accepted requests below that path; by default a POST to the path itself. */
  routes?: Routes;
  /** The secrets that the function reads: to verify requests, and to sign people's jobs. */
  reads: readonly SecretName[];
  /** What happens to an event answered with 5xx, and what to do, for the text of an alarm. */
  refused: { means: string; todo: string };
}

/** A function that receives events from outside at a URL. */
export class WebhookEndpoint extends Construct {
  readonly function: LambdaFunction;
  readonly url: string;

  constructor(scope: Construct, id: string, props: WebhookEndpointProps) {
    super(scope, id);
    const { slug, path, routes, entrance, reads, secrets, queues, alarms, config, refused } = props;
    this.function = new RelayFunction(this, 'Function', {
      ...props,
      // The processor limits how fast the bundle loads, and its share grows with the memory. 1 GB more than halves the
      // cold start of 256 MB, for about the same price per event.
      memoryMegabytes: 1024,
      callsService: false,
      throttled: refused.means,
      // GitHub, Slack and most other senders give up earlier.
      timeout: Duration.seconds(10),
      reservedConcurrency: reservedForOpen(config, props.stage.settings, props.custom),
    }).function;
    secrets.grantRead(this.function, reads);
    for (const queue of Object.values(queues)) queue.grantSend(this.function);

    const { url, serverErrors } = entrance.open(this.function, slug, path, routes);
    this.url = url;

    alarms.add(serverErrors, `${slug}-5xx`, {
      broken: `${slug} could not store an event and answered 5xx: ${refused.means}`,
      todo: `Read the log of the function for the reason. ${refused.todo}`,
    });
  }
}
