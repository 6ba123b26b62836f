const PARTNER_PATH = '/api/v1/partner';
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** A base URL that cannot be used; the message says what is wrong and what would be right. */
export class BaseUrlError extends Error {
  override readonly name = 'BaseUrlError';
}

/**
 * The URL below which the operations of an instance lie: `https://pm.example.com/x/` gives
 * `https://pm.example.com/x/api/v1/partner`. A path, a port and a trailing slash are kept or dropped as needed.
 *
 * @throws {BaseUrlError} for what is no URL, carries credentials, a query or a fragment, or is not https; plain http
 * is taken for loopback only, because the API key and the audit trail's facts would travel in the clear.
 */
export function partnerRoot(baseUrl: string): string {
  const wanted = 'expected the scheme and host of the instance, such as https://pm.example.com';
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    throw new BaseUrlError(`base URL is not a URL: ${wanted}`);
  }
  if (url.username || url.password) throw new BaseUrlError(`base URL must not carry credentials: ${wanted}`);
  if (url.search || url.hash) throw new BaseUrlError(`base URL must not carry a query or a fragment: ${wanted}`);
  // `localhost:3000` is a URL too, with the scheme `localhost:`.
  if (!/^https?:$/.test(url.protocol)) throw new BaseUrlError(`base URL must begin with https://: ${wanted}`);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && LOOPBACK.test(url.hostname))) {
    throw new BaseUrlError(`base URL ${url.origin} is not https, which only a loopback address may be: ${wanted}`);
  }
  const path = url.pathname.replace(/\/+$/, '');
  return `${url.origin}${path.endsWith(PARTNER_PATH) ? path : path + PARTNER_PATH}`;
}
