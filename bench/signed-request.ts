import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { functionUrlEvent } from '../local/http-front.ts';

/** A POST as it is sent. */
export interface SignedRequest {
  body: string;
  headers: Record<string, string>;
}

/** The event that a function URL makes from it. */
export function functionEvent({ body, headers }: SignedRequest): APIGatewayProxyEventV2 {
  return functionUrlEvent({ method: 'POST', headers, url: '/' }, '/', Buffer.from(body));
}
