import { outsideText } from './outside-text.ts';

/** What the instance serves cannot be used for OAuth. The message says what is wrong, and at which address. */
export class InstanceFault extends Error {
  override readonly name = 'InstanceFault';

  constructor(url: string, what: string, options?: ErrorOptions) {
    super(`${outsideText(url)}: ${what}`, options);
  }
}

/** The authorization server refused a request in OAuth's own form (RFC 6749, 5.2 and 4.1.2.1; RFC 7591, 3.2.2). */
export class OAuthRefusal extends Error {
  override readonly name = 'OAuthRefusal';
  /** `invalid_grant`, `invalid_client`, `access_denied` */
  readonly error: string;
  /** The service's own words: one short line. */
  readonly said: string | null;

  constructor(what: string, error: string, description: string | undefined) {
    const said = description === undefined ? null : outsideText(description);
    super(`${what}: refused with ${outsideText(error)}${said ? `: ${said}` : ''}`);
    this.error = outsideText(error);
    this.said = said;
  }
}

/** The authorization server cannot answer now: too many requests, or a failure of its own. */
export class OAuthUnavailable extends Error {
  override readonly name = 'OAuthUnavailable';

  constructor(what: string, status: number) {
    super(`${what}: answered with status ${status}`);
  }
}
