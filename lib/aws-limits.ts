import { AsyncLocalStorage } from 'node:async_hooks';

export interface AwsLimits {
  tries: number;
  /** How long one try waits for the start of its answer, and then for each further part of it. */
  tryMs: number;
}

/** Short, because Slack and GitHub wait for a webhook. */
export const IN_WEBHOOKS: AwsLimits = { tries: 2, tryMs: 1_000 };
export const IN_FUNCTIONS: AwsLimits = { tries: 3, tryMs: 3_000 };
/** Long, because the network of a person's machine may be slow. */
export const ON_COMMAND: AwsLimits = { tries: 3, tryMs: 10_000 };

/**
 * Limits one try of the SDK. `requestTimeout` runs from the call to the headers of its answer, so it covers the
 * connection, a proxy's CONNECT, and TLS; without `throwOnRequestTimeout` it only warns. `socketTimeout` ends an answer
 * whose body stalls. These settings replace the SDK's own, which limit only the connection.
 * https://github.com/smithy-lang/smithy-typescript/blob/main/packages/node-http-handler/src/node-http-handler.ts
 */
export const ofTry = (ms: number) => ({ requestTimeout: ms, throwOnRequestTimeout: true, socketTimeout: ms });

/** How much time an invocation keeps for its answer, after its calls to AWS have ended. */
const LAST_MOMENTS_MS = 500;

const invocation = new AsyncLocalStorage<AbortSignal>();

/**
 * Ends all calls to AWS of an invocation together, so that their tries together do not exceed its time.
 *
 * @param mostMs how long after the start of the invocation; by default, shortly before Lambda stops the function
 */
export function endingCalls<Event, Context extends { getRemainingTimeInMillis(): number }, Answer>(
  handle: (event: Event, context: Context) => Promise<Answer>,
  mostMs?: number,
) {
  return (event: Event, context: Context): Promise<Answer> => {
    const ms = mostMs ?? Math.max(0, Math.floor(context.getRemainingTimeInMillis() - LAST_MOMENTS_MS));
    return invocation.run(AbortSignal.timeout(ms), () => handle(event, context));
  };
}

/** The part of an SDK client that sends a request over the network. */
interface RequestHandler<Request, Answer> {
  handle(request: Request, options?: object): Promise<Answer>;
}

/** Makes the calls of a client end with their invocation. */
export function endWithInvocation<Request, Answer>(requestHandler: RequestHandler<Request, Answer>): void {
  const handle = requestHandler.handle.bind(requestHandler);
  requestHandler.handle = (request, options) => {
    const abortSignal = invocation.getStore();
    return handle(request, { ...options, ...(abortSignal && { abortSignal }) });
  };
}

/** Makes calls to other services end together with the calls to AWS. */
export function fetchWithinInvocation(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return (input, init) => {
    const signals = [invocation.getStore(), init?.signal].filter((signal) => signal instanceof AbortSignal);
    return fetch(input, { ...init, signal: AbortSignal.any(signals) });
  };
}

/**
 * True if AWS did not answer in time, so that it may have carried out the call. Only errors of the SDK have metadata.
 */
export function isSilence(error: unknown): boolean {
  if (!(error instanceof Error && '$metadata' in error)) return false;
  // The error may come from the end of an earlier invocation, whose failure was kept.
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return true;
  // If the end of the invocation cuts an answer short, the error is a broken connection.
  return invocation.getStore()?.aborted ?? false;
}
