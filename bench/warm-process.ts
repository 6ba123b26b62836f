import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { LambdaFunction } from './first-event.ts';

/** The measurement that the process reports for each event. */
export interface WarmEvent {
  eventMs: number;
  answer: APIGatewayProxyStructuredResultV2;
}

// Runs in its own process with the URL of a bundle as argument, and gets one event after another.
const [, , url = ''] = process.argv;
const bundle: Promise<LambdaFunction> = import(url);
process.on('message', async (event) => {
  const { handler } = await bundle;
  const startMs = performance.now();
  const answer = await handler(event, {});
  const told: WarmEvent = { eventMs: performance.now() - startMs, answer };
  process.send?.(told);
});
