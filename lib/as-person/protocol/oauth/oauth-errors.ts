import { outsideText } from '../outside-text.ts';

/** The instance cannot be used for OAuth. The message names the fault and its address. */
export class InstanceFault extends Error {
  override readonly name = 'InstanceFault';

  constructor(url: string, what: string, options?: ErrorOptions) {
    super(`${outsideText(url)}: ${what}`, options);
  }
}

/** The error codes of RFC 6749, 7591, 8628, 8707 and OpenID Connect Core. */
const CODES: ReadonlySet<string> = new Set(
  (
    'invalid_request invalid_client invalid_grant invalid_scope invalid_target invalid_redirect_uri ' +
    'invalid_client_metadata invalid_software_statement unapproved_software_statement unauthorized_client ' +
    'unsupported_grant_type unsupported_response_type access_denied server_error temporarily_unavailable slow_down ' +
    'login_required interaction_required consent_required'
  ).split(' '),
);

/** The authorization server refused a request in OAuth's format (RFC 6749, 5.2 and 4.1.2.1; RFC 7591, 3.2.2). */
export class OAuthRefusal extends Error {
  override readonly name = 'OAuthRefusal';
  /** `invalid_grant`, `invalid_client`, `access_denied`, or a note that the code is unknown. */
  readonly error: string;
  /** The service's own words in one short line, only for the person. */
  readonly said: string | null;

  constructor(what: string, error: unknown, description: string | undefined) {
    const code = typeof error === 'string' && CODES.has(error) ? error : 'an unknown error';
    super(`${what}: refused with ${code}`);
    this.error = code;
    this.said = description === undefined ? null : outsideText(description);
  }
}

/** The authorization server cannot answer now, because of too many requests or its own failure. */
export class OAuthUnavailable extends Error {
  override readonly name = 'OAuthUnavailable';

  constructor(what: string, status: number) {
    super(`${what}: answered with status ${status}`);
  }
}
