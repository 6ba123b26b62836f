import { type Answer, jsonAnswer } from '../answer.ts';

/**
 * An error of the registration or token endpoint, from RFC 7591 and RFC 6749, because docs/partner-api.md shows none.
 */
export class OAuthRefusal extends Error {
  readonly status: number;
  readonly error: string;

  constructor(status: number, error: string, description: string) {
    super(description);
    this.status = status;
    this.error = error;
  }
}

export const notStored = { 'cache-control': 'no-store', pragma: 'no-cache' } as const;

export function oauthAnswer(status: number, value: object, reason: string | null = null): Answer {
  const answer = jsonAnswer(status, value, reason);
  return { ...answer, headers: { ...answer.headers, ...notStored } };
}

export function oauthRefusalAnswer({ status, error, message }: OAuthRefusal): Answer {
  return oauthAnswer(status, { error, error_description: message }, `${error}: ${message}`);
}
