const PARTNER_PATH = '/api/v1/partner';
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** An unusable base URL. The message says what is wrong and what to enter instead. */
export class BaseUrlError extends Error {
  override readonly name = 'BaseUrlError';
}

/**
 * Returns the root URL of an instance's operations: `https://pm.example.com/x/` gives
 * `https://pm.example.com/x/api/v1/partner`.
 * @throws {BaseUrlError} as {@link instanceRoot}
 */
export function partnerRoot(baseUrl: string, options?: BaseUrlOptions): string {
  return instanceRoot(baseUrl, options) + PARTNER_PATH;
}

export interface BaseUrlOptions {
  allowInsecureHttp?: boolean | undefined;
}

/**
 * Returns the base URL of an instance without a slash at its end: `https://pm.example.com/x/` gives
 * `https://pm.example.com/x`. Drops the path of the partner API if it is there.
 *
 * Plain http is refused outside loopback unless `allowInsecureHttp` is set. Set it only for an instance without a
 * certificate, in your own network. Over http, anyone between the relay and the instance can read the API key and every
 * answer, because the service does not encrypt answers, and can also change answers. Payloads stay encrypted and
 * signed.
 *
 * @throws {BaseUrlError} if it is not a URL, has credentials, a query or a fragment, or is not https
 */
export function instanceRoot(baseUrl: string, { allowInsecureHttp = false }: BaseUrlOptions = {}): string {
  const wanted = 'expected the scheme and host of the instance, such as https://pm.example.com';
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    throw new BaseUrlError(`base URL is not a URL: ${wanted}`);
  }
  if (url.username || url.password) throw new BaseUrlError(`base URL must not carry credentials: ${wanted}`);
  if (url.search || url.hash) throw new BaseUrlError(`base URL must not carry a query or a fragment: ${wanted}`);
  // `localhost:3000` is also a URL, with the scheme `localhost:`.
  if (!/^https?:$/.test(url.protocol)) throw new BaseUrlError(`base URL must begin with https://: ${wanted}`);
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname) && !allowInsecureHttp) {
    throw new BaseUrlError(
      `base URL ${url.origin} is not https: ${wanted}. For an instance without a certificate in a network that you trust, set allowInsecureHttp in the secret`,
    );
  }
  const path = url.pathname.replace(/\/+$/, '');
  return `${url.origin}${path.endsWith(PARTNER_PATH) ? path.slice(0, -PARTNER_PATH.length) : path}`;
}
