import { AsyncLocalStorage } from 'node:async_hooks';

export interface AwsLimits {
  tries: number;
  /** What one try may take until its answer begins, and then each silence within the answer. */
  tryMs: number;
}

/** Slack and GitHub wait for a webhook. */
export const IN_WEBHOOKS: AwsLimits = { tries: 2, tryMs: 1_000 };
export const IN_FUNCTIONS: AwsLimits = { tries: 3, tryMs: 3_000 };
/** The network of a person's machine may be slow. */
export const ON_COMMAND: AwsLimits = { tries: 3, tryMs: 10_000 };

/**
 * The limits of a try for the SDK. `requestTimeout` runs from the call to the headers of its answer, so it covers a
 * connection, a proxy's CONNECT and TLS; without `throwOnRequestTimeout` it only warns. `socketTimeout` ends an answer
 * whose body stalls. Settings replace the SDK's own, which limit the connection alone.
 * https://github.com/smithy-lang/smithy-typescript/blob/main/packages/node-http-handler/src/node-http-handler.ts
 */
export const ofTry = (ms: number) => ({ requestTimeout: ms, throwOnRequestTimeout: true, socketTimeout: ms });

/** How long an invocation goes on after its calls of AWS have ended, to answer. */
const LAST_MOMENTS_MS = 500;

const invocation = new AsyncLocalStorage<AbortSignal>();

/**
 * Ends all calls of AWS of an invocation together, so that their tries cannot add up to more than it has.
 *
 * @param mostMs how long after its start; by default, shortly before Lambda stops the function
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

/** Sends a request over the wire, as a client of the SDK does. */
interface RequestHandler<Request, Answer> {
  handle(request: Request, options?: object): Promise<Answer>;
}

/** Lets the calls of a client end with the invocation that makes them. */
export function endWithInvocation<Request, Answer>(requestHandler: RequestHandler<Request, Answer>): void {
  const handle = requestHandler.handle.bind(requestHandler);
  requestHandler.handle = (request, options) => {
    const abortSignal = invocation.getStore();
    return handle(request, { ...options, ...(abortSignal && { abortSignal }) });
  };
}

/** Lets calls of somebody else end together with those of AWS. */
export function fetchWithinInvocation(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return (input, init) => {
    const signals = [invocation.getStore(), init?.signal].filter((signal) => signal instanceof AbortSignal);
    return fetch(input, { ...init, signal: AbortSignal.any(signals) });
  };
}

/** True if AWS did not answer in time, so that nobody knows what it has carried out. Only errors of the SDK have metadata. */
export function isSilence(error: unknown): boolean {
  if (!(error instanceof Error && '$metadata' in error)) return false;
  // The end of the calls may be that of an earlier invocation, whose failure is remembered.
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return true;
  // An answer that the end of the calls cuts short is a broken connection.
  return invocation.getStore()?.aborted ?? false;
}
