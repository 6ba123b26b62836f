import type { APIGatewayProxyStructuredResultV2, Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { ScheduleEvent } from '../lib/schedules.ts';
import type { RawRequest } from '../lib/state/http/function-url.ts';
import type { SqsHandler } from '../local/event-source.ts';
import type { HttpHandler } from '../local/http-front.ts';
import type { ScheduledHandler } from '../local/schedules.ts';

/** Handlers of functions with the part of Lambda's context that they use. */
export function asSqsHandler(handler: (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>): SqsHandler {
  return (event, context) => handler(event, context as Context);
}

/** The functions of requests use no context. */
export function asHttpHandler(
  handler: (event: RawRequest, context: Context) => Promise<APIGatewayProxyStructuredResultV2>,
): HttpHandler {
  return (event) => handler(event as RawRequest, {} as Context);
}

export function asScheduledHandler<Result>(
  handler: (event: ScheduleEvent, context: Context) => Promise<Result>,
): ScheduledHandler<Result> {
  return (event, context) => handler(event, context as Context);
}
