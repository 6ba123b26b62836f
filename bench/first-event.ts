import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';

/** The measurement of a fresh process for its first event, printed as the last line of its output. */
export interface FirstEvent {
  importMs: number;
  eventMs: number;
  residentBytes: number;
  answer: APIGatewayProxyStructuredResultV2;
}

/** What a bundle exports. */
export interface LambdaFunction {
  handler(event: unknown, context: unknown): Promise<APIGatewayProxyStructuredResultV2>;
}

// Runs in a process of its own, with the URL of a bundle and the event as arguments. It imports nothing itself, and
// talks over nothing but its output, so that all of what a bundle needs of Node is loaded while the clock runs.
const [, , url = '', event = ''] = process.argv;
const parsedEvent: unknown = JSON.parse(event);
const startMs = performance.now();
const { handler }: LambdaFunction = await import(url);
const importedMs = performance.now();
const answer = await handler(parsedEvent, {});
const answeredMs = performance.now();
const told: FirstEvent = {
  importMs: importedMs - startMs,
  eventMs: answeredMs - importedMs,
  residentBytes: process.memoryUsage.rss(),
  answer,
};
// Connections that are kept alive would keep the process alive too.
process.stdout.write(`\n${JSON.stringify(told)}\n`, () => process.exit());
