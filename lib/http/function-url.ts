import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';

/** A request that is answered with that status; the message goes to whoever sent it, so it says what is wrong. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** A request with its body as the bytes that were sent. */
export interface RawRequest extends APIGatewayProxyEventV2 {
  bytes: Uint8Array;
}

/** The largest request that a function URL takes (AWS Lambda, function URL quotas). */
export const MAX_BODY_BYTES = 6 * 1024 * 1024;

/** An answer in JSON. */
export function jsonAnswer(status: number, body: Readonly<Record<string, unknown>>): APIGatewayProxyStructuredResultV2 {
  return { statusCode: status, headers: { 'content-type': 'application/json' }, body: `${JSON.stringify(body)}\n` };
}

/** Puts the bytes of the body into the event. A function URL hands some content types over in Base64. */
export function rawBody(): MiddlewareObj<RawRequest, APIGatewayProxyStructuredResultV2> {
  return {
    before: ({ event }) => {
      event.bytes = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
      if (event.bytes.byteLength > MAX_BODY_BYTES) {
        throw new HttpError(413, `the body is larger than ${MAX_BODY_BYTES} bytes`);
      }
    },
  };
}

/**
 * Answers errors: an {@link HttpError} with its own status, everything else with 500 and a line in the log, for then
 * the event is not safe and must be delivered again.
 */
export function httpErrors(
  log: Pick<Console, 'warn' | 'error'>,
): MiddlewareObj<RawRequest, APIGatewayProxyStructuredResultV2> {
  return {
    onError: (request) => {
      const { error } = request;
      if (error instanceof HttpError) {
        log.warn({ message: 'request refused', status: error.status, reason: error.message });
        request.response = jsonAnswer(error.status, { error: error.message });
      } else {
        log.error({ message: 'the event could not be made safe', error: String(error), stack: error?.stack });
        request.response = jsonAnswer(500, { error: 'the event could not be stored; please deliver it again' });
      }
    },
  };
}
