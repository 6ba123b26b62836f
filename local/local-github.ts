import {
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  type KeyPairKeyObjectResult,
  randomBytes,
  verify,
} from 'node:crypto';
import { promisify } from 'node:util';
import type { RelayConfig } from '../lib/config/schema.ts';
import { answerOf, notFound } from './github/answer.ts';
import { type GithubStandIn, startGithubStandIn } from './github/stand-in.ts';
import type { LocalStack } from './stack.ts';

const GITHUB_API = 'https://api.github.com';

const UNKNOWN =
  "this is GitHub's stand-in, which does not know that: say what it answers under github in automations/<name>.given.json, or in given of a test, or enter a token with npx partner-relay secrets set github";

let made: Promise<KeyPairKeyObjectResult> | undefined;

/** One key per process, because generating it takes longer than starting all stand-ins. */
function appKey(): Promise<KeyPairKeyObjectResult> {
  made ??= promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  return made;
}

/** `partner-relay start` has no stand-in for a GitHub Enterprise Server. */
export const usesGithubCom = ({ github }: RelayConfig): boolean => github.apiUrl === GITHUB_API;

/**
 * Starts a stand-in for GitHub, logs its comments and checks, and enters its token and its App. It is only for the
 * sandbox: with a real instance, it would vouch for people, and the missing issues on GitHub would go unnoticed.
 *
 * @param answers to GET requests, by path, instead of its own
 */
export async function enterGithubStandIn(
  { secrets, secretPrefix }: LocalStack,
  log: Pick<Console, 'info'>,
  clock: () => number,
  answers: Readonly<Record<string, unknown>> = {},
): Promise<GithubStandIn> {
  const token = `stand-in-${randomBytes(16).toString('hex')}`;
  const { privateKey } = await appKey();
  const app = { appId: '1', privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) };
  secrets.put(`${secretPrefix}github`, { token, ...app });
  return startGithubStandIn({
    clock,
    isValid: (authorization) => authorization === `token ${token}` || isSigned(authorization, privateKey),
    installationToken: token,
    between({ route }, answer) {
      const [method, path = ''] = route.split(' ');
      if (method === 'GET' && Object.hasOwn(answers, path)) return answerOf(answers[path]);
      const own = answer();
      return own === notFound ? answerOf({ message: UNKNOWN }, 404) : own;
    },
    // GitHub does not show the marker either.
    commented: ({ issue, body }) =>
      log.info({ message: 'comment on GitHub', issue, text: body.replaceAll(/\s*<!--.*?-->/g, '') }),
    checked: ({ repository, head_sha, name, conclusion, output }) =>
      log.info({
        message: 'check on GitHub',
        commit: `${repository}@${head_sha.slice(0, 7)}`,
        name,
        conclusion: conclusion ?? 'in progress',
        title: output.title,
        text: output.summary.split('\n').filter((text) => text !== ''),
      }),
  });
}

/** Whether the header has a JSON web token of the App that this key signed. */
function isSigned(authorization: string | undefined, key: KeyObject): boolean {
  const [, signed = '', signature = ''] = /^bearer ([\w-]+\.[\w-]+)\.([\w-]+)$/i.exec(authorization ?? '') ?? [];
  return verify('sha256', Buffer.from(signed), createPublicKey(key), Buffer.from(signature, 'base64url'));
}

/** Says where the relay's comments go, for the banner. */
export function commentsInWords(credentialsFrom: string | undefined, standIn: GithubStandIn | undefined): string {
  if (credentialsFrom !== undefined) return `with the credentials of ${credentialsFrom}`;
  return standIn ? 'shown here; set GITHUB_TOKEN to write them on GitHub' : 'off; set GITHUB_TOKEN to turn them on';
}

/** The configuration with the stand-in's address, if there is one, because its token must not go to GitHub. */
export function withGithubAt(standInUrl: string | undefined, config: RelayConfig): RelayConfig {
  return standInUrl === undefined ? config : { ...config, github: { ...config.github, apiUrl: standInUrl } };
}
