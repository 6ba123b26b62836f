import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { startHttpStandIn } from './http-stand-in.ts';

const APP_ID = '4711';
const INSTALLATION_ID = 77;
const INSTALLATION_TOKEN = 'ghs_installation';

/** A private key and its public one, in PEM. */
export const newKeys = () =>
  generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });

/** Of every App of the tests: making keys takes longer than a test. */
export const { privateKey, publicKey } = newKeys();

/** Who GitHub knows, at the wire: an App that is installed at one account, and tokens. */
export interface GithubIdentity {
  url: string;
  /** What the `github` secret holds of the App. */
  app: { appId: string; privateKey: string };
  tokens: Set<string>;
  /** The accounts that the App is installed at. */
  installedAt: Set<string>;
  /** Whether it knows rate limits, which a GitHub Enterprise Server may not. */
  hasRateLimits: boolean;
  /** What the next requests are answered instead; `cut` leaves them without an answer. */
  failures: ({ status: number; headers?: Record<string, string> } | 'cut')[];
  /** Each that came in: `GET /app`. */
  requests: string[];
  close(): Promise<void>;
}

export async function startGithubIdentity(): Promise<GithubIdentity> {
  const { url, close } = await startHttpStandIn(({ route, headers: { authorization = '' } }) => {
    const [, path = ''] = route.split(' ');
    identity.requests.push(route);
    const failure = identity.failures.shift();
    if (failure === 'cut') return undefined;
    if (failure) return { body: { message: 'Not now' }, ...failure };
    const answer = (status: number, body: object) => ({ status, body });
    const [scheme, credential = ''] = authorization.split(' ');
    if (path === '/rate_limit') {
      const isKnown = scheme === 'token' && (identity.tokens.has(credential) || credential === INSTALLATION_TOKEN);
      if (!isKnown) return answer(401, { message: 'Bad credentials' });
      return identity.hasRateLimits
        ? answer(200, { resources: {} })
        : answer(404, { message: 'Rate limiting is not enabled.' });
    }
    if (claimsOf(authorization) === undefined) {
      return answer(401, { message: 'A JSON web token could not be decoded' });
    }
    if (path === '/app') return answer(200, { id: Number(APP_ID) });
    const [, account = ''] = /^\/repos\/([^/]+)\/[^/]+\/installation$/.exec(path) ?? [];
    if (identity.installedAt.has(account)) return answer(200, { id: INSTALLATION_ID });
    if (path === `/app/installations/${INSTALLATION_ID}/access_tokens`) {
      return answer(201, { token: INSTALLATION_TOKEN, expires_at: new Date(Date.now() + 3_600_000).toISOString() });
    }
    return answer(404, { message: 'Not Found' });
  });
  const identity: GithubIdentity = {
    url,
    app: { appId: APP_ID, privateKey },
    tokens: new Set(),
    installedAt: new Set(),
    hasRateLimits: true,
    failures: [],
    requests: [],
    close,
  };
  return identity;
}

/**
 * What a JSON web token says that the App signed; undefined for any other.
 * https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
 */
export function claimsOf(authorization: string): { iss: unknown } | undefined {
  const [head = '', claims = '', signature = ''] = authorization.replace(/^bearer /i, '').split('.');
  const signed = Buffer.from(`${head}.${claims}`);
  if (!verify('sha256', signed, createPublicKey(publicKey), Buffer.from(signature, 'base64url'))) return undefined;
  return JSON.parse(Buffer.from(claims, 'base64url').toString());
}
