import type { APIGatewayProxyStructuredResultV2, SQSBatchResponse } from 'aws-lambda';
import { SOURCE } from '../../lib/project.ts';
import type { Runtime } from '../../lib/runtime.ts';
import type { ScheduleEvent } from '../../lib/schedules.ts';
import { deliver, type LocalContext } from '../event-source.ts';
import type { FifoQueue, ReceivedMessage } from '../fifo-queue.ts';
import { functionUrlEvent, type HttpHandler } from '../http-front.ts';

type Handler = (event: unknown, context: object) => Promise<unknown>;

/** Bytes as they arrive at a function URL. */
export interface Posted {
  url: string;
  headers: Record<string, string>;
  body: string | Uint8Array;
}

/** The part of a Lambda context that the functions use. @param end epoch milliseconds */
export const contextUntil = (end: number, clock: () => number): LocalContext => ({
  getRemainingTimeInMillis: () => end - clock(),
  awsRequestId: '',
  functionName: '',
});

/** The functions of one process, or of a process each. */
export type Functions = ReturnType<typeof functionsOf>;

/** The unchanged functions by slug. A function is created at its first call. @param runtimeOf its process */
export function functionsOf(runtimeOf: (slug: string) => Runtime) {
  const made = new Map<string, Promise<Handler>>();
  function make(slug: string): Promise<Handler> {
    const known = made.get(slug);
    if (known) return known;
    const one = import(`../../functions/${slug}${SOURCE}`).then((module) => module.createHandler(runtimeOf(slug)));
    made.set(slug, one);
    return one;
  }
  // Functions that answer requests do not use the context.
  const ofRequests = (slug: string) =>
    (async (event) =>
      (await make(slug))(event, {}) as Promise<APIGatewayProxyStructuredResultV2>) satisfies HttpHandler;

  const functions = {
    make,
    takeGithub: ofRequests('github-webhook'),
    takeSlack: ofRequests('slack-webhook'),
    takeHook: ofRequests('hooks-webhook'),
    linkPages: ofRequests('account-link'),
    /** Handles a request of GitHub, Slack or another tool. */
    take({ url, headers, body }: Posted): Promise<APIGatewayProxyStructuredResultV2> {
      const event = functionUrlEvent({ method: 'POST', url, headers }, url, Buffer.from(body));
      if (url === '/github') return functions.takeGithub(event);
      return url === '/slack' ? functions.takeSlack(event) : functions.takeHook(event);
    },
    work: (queue: Pick<FifoQueue, 'name' | 'delete'>, message: ReceivedMessage, context: LocalContext) =>
      deliver(queue, message, async (event) => (await make('job-worker'))(event, context) as Promise<SQSBatchResponse>),
    fire: async (slug: string, event: ScheduleEvent, context: object) => (await make(slug))(event, context),
  };
  return functions;
}
