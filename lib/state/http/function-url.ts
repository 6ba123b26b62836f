import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';

/** Answers a request with its status. The sender reads the message, so it says what is wrong. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** A request with its body as the original bytes. */
export interface RawRequest extends APIGatewayProxyEventV2 {
  bytes: Uint8Array;
}

/** The largest request that a function URL accepts (AWS Lambda, function URL quotas). */
export const MAX_BODY_BYTES = 6 * 1024 * 1024;

export function jsonAnswer(status: number, body: Readonly<Record<string, unknown>>): APIGatewayProxyStructuredResultV2 {
  return { statusCode: status, headers: { 'content-type': 'application/json' }, body: `${JSON.stringify(body)}\n` };
}

/** Adds the body's bytes to the event. A function URL delivers some content types in Base64. */
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
 * Answers errors: an {@link HttpError} with its own status, and any other error with 500 and a log line, because the
 * event is then not stored and must be delivered again.
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
        log.error({ message: 'the event could not be stored', error: String(error), stack: error?.stack });
        request.response = jsonAnswer(500, { error: 'the event could not be stored; please deliver it again' });
      }
    },
  };
}
