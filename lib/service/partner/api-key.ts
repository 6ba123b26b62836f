/**
 * The public part of a key (docs/partner-api.md#keys). It goes over the wire as it is, so a secret key in its place
 * is refused before anything is sent.
 */
export const API_KEY = /^pk_[\x21-\x7e]+$/;
export const API_KEY_EXPECTED = 'expected a key that begins with pk_, of ASCII characters without spaces';
