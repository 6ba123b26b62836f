import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { awsErrorInWords } from '../../cli/aws-errors.ts';
import { createGithubApp } from '../../cli/init/create-github-app.ts';
import { openSecretStore } from '../../cli/secret-store.ts';
import { awsFault } from '../../console/aws-faults.ts';
import { writeOwnFile } from '../../local/own-file.ts';
import { type HttpStandIn, startHttpStandIn } from '../http-stand-in.ts';
import { newFolder, withPackage, workInNewFolder } from '../new-folder.ts';
import { exampleConfig } from '../relay.ts';
import { runRelay } from './run-command.ts';

const DENIED = 'AccessDeniedException';
const KEPT = '.relay/github-app-prod.json';
const APP = { id: 77, pem: 'PRIVATE KEY', webhook_secret: 'wh_secret', html_url: 'https://github.com/apps/relay' };

let github: HttpStandIn;
let manager: HttpStandIn;
/** The stored secrets, with the labels of their versions. */
let stored: { SecretId: string; SecretString: string; VersionStages?: string[] }[];
/** Returns the error with which AWS refuses a version. */
let refuse: (version: (typeof stored)[number]) => string | undefined;

beforeEach(async () => {
  workInNewFolder();
  stored = [];
  refuse = () => undefined;
  const spent = new Set<string>();
  github = await startHttpStandIn(({ route }) => {
    if (spent.has(route)) return { status: 404, body: {} };
    spent.add(route);
    return { status: 201, body: APP };
  });
  manager = await startHttpStandIn(({ body }) => {
    const version = JSON.parse(body);
    const SecretString = stored.findLast(({ SecretId }) => SecretId === version.SecretId)?.SecretString;
    const hasNone = !version.SecretString && SecretString === undefined && 'ResourceNotFoundException';
    const fault = refuse(version) ?? hasNone;
    if (fault) return { status: 400, body: { __type: fault, Message: 'not with these secrets.' } };
    if (!version.SecretString) return { status: 200, body: { SecretString } };
    stored.push(version);
    return { status: 200, body: { Name: version.SecretId } };
  });
  vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', manager.url);
  for (const name of ['AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, 'test');
  vi.spyOn(console, 'log').mockImplementation(() => {});
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  return Promise.all([github.close(), manager.close()]);
});

/** Creates an App, as `init --github-app` does. GitHub immediately returns the browser with that code. */
async function createApp(stage: string | undefined, code = 'code1'): Promise<string> {
  const redirected = async (url: string) => {
    const [, state] = /state=([\w-]+)/.exec(await (await fetch(url)).text()) ?? [];
    await fetch(`${new URL(url).origin}/callback?code=${code}&state=${state}`);
  };
  return createGithubApp({
    ...{ name: 'Relay', organization: undefined, github: 'https://github.com', apiUrl: github.url },
    ...{ webhookUrl: undefined, events: [], store: openSecretStore(stage), stage },
    openPage: (url) => void redirected(url),
  });
}

/** Runs `partner-relay secrets set` with the typed secret. */
function enter(name: string, secret: object | string, customFolder?: string): Promise<string> {
  const typed = Readable.from([typeof secret === 'string' ? secret : JSON.stringify(secret)]);
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(typed as typeof process.stdin);
  const given = { stage: () => 'prod', readConfig: async () => exampleConfig(), ...(customFolder && { customFolder }) };
  return runRelay(given, 'secrets', 'set', name);
}

const values = () => stored.filter(({ VersionStages }) => !VersionStages);

describe('a new GitHub App', () => {
  it('the keys of an App are stored after a check that they can be, and are not shown', async () => {
    const install = await createApp('prod');
    expect(install).toBe('https://github.com/apps/relay/installations/new');
    expect(stored.map(({ SecretId, VersionStages }) => [SecretId, VersionStages])).toEqual([
      ['partner-relay/prod/github-webhook', ['PARTNER_RELAY_CHECK']],
      ['partner-relay/prod/github', ['PARTNER_RELAY_CHECK']],
      ['partner-relay/prod/github-webhook', undefined],
      ['partner-relay/prod/github', undefined],
    ]);
    expect(values().map(({ SecretString }) => JSON.parse(SecretString))).toEqual([
      { webhookSecret: 'wh_secret' },
      { appId: '77', privateKey: 'PRIVATE KEY' },
    ]);
    expect(existsSync(KEPT)).toBe(false);
    expect(vi.mocked(console.log).mock.calls.join()).not.toMatch(/wh_secret|PRIVATE KEY/);
  });

  it('a code is not used up if secrets cannot be written', async () => {
    refuse = () => DENIED;
    await expect(createApp('prod')).rejects.toThrow('not with these secrets');
    expect(github.asked).toEqual([]);
  });

  it('keys of a new App are kept for their owner until they are stored, and the next attempt continues from there', async () => {
    // Fails after the check: only the check's version has a label.
    refuse = ({ VersionStages }) => (VersionStages ? undefined : DENIED);
    const kept = /are kept in \.relay\/github-app-prod\.json: run .* init --keep --github-app again/;
    await expect(createApp('prod')).rejects.toThrow(kept);
    expect(JSON.parse(await readFile(KEPT, 'utf8'))).toMatchObject({ id: 77 });
    expect((await stat(KEPT)).mode & 0o777).toBe(0o600);

    refuse = () => undefined;
    await createApp('prod', 'code2');
    expect(values()).toHaveLength(2);
    expect(github.asked).toHaveLength(1);
    expect(existsSync(KEPT)).toBe(false);
  });

  it('an attempt that was interrupted before it got keys does not stop the next attempt', async () => {
    writeOwnFile(KEPT, '');
    await createApp('prod');
    expect(values()).toHaveLength(2);
  });

  it('a used code leaves nothing behind', async () => {
    await createApp('prod');
    await expect(createApp('prod')).rejects.toThrow(/GitHub answers 404: .*create the App again/);
    expect(existsSync(KEPT)).toBe(false);
  });

  it('without a stage, the keys are kept on this machine', async () => {
    await createApp(undefined);
    expect(JSON.parse(await readFile('.relay/secrets.json', 'utf8'))).toEqual({
      'github-webhook': { webhookSecret: 'wh_secret' },
      github: { appId: '77', privateKey: 'PRIVATE KEY' },
    });
    expect(manager.asked).toEqual([]);
  });

  it.each(['ExpiredToken', 'InvalidSignatureException', 'SignatureDoesNotMatch', 'TokenProviderError'])(
    '%s says in the terminal and in the console that the credentials cannot be used',
    (name) => {
      const error = Object.assign(new Error('no'), { name });
      expect(awsErrorInWords(error)).toMatch(/credentials.*: sign in/);
      expect(awsFault(error)?.message).toMatch(/AWS does not accept the credentials.*Sign in to AWS again/);
    },
  );

  it('a missing secret of the stage is reported with what to do', async () => {
    refuse = () => 'ResourceNotFoundException';
    const error = await createApp('prod').catch((error: unknown) => error);
    expect(awsErrorInWords(error)).toMatch(/The stack of the stage creates its secrets: deploy it first/);
  });
});

describe('partner-relay secrets set partner/main', () => {
  it.each([
    ['ftp://pm.example.com', /base URL must begin with https:\/\//],
    ['http://pm.example.com', /is not https.*set allowInsecureHttp/],
  ])('stores no address that the relay would not call: %s', async (baseUrl, why) => {
    const entered = enter('partner/main', { ...partner, baseUrl });
    await expect(entered).rejects.toThrow(why);
    await expect(entered).rejects.toThrow(/^the secret partner\/main is not stored: /);
    expect(stored).toEqual([]);
  });

  const partner = { baseUrl: 'https://pm.example.com', apiKey: 'pk_test', secretKey: 'sk_test' };

  it('stores the address in another secret, too, for the pages that link accounts', async () => {
    await openSecretStore('prod').put('partner/main', partner);
    expect(stored.map(({ SecretId, SecretString }) => [SecretId, JSON.parse(SecretString)])).toEqual([
      ['partner-relay/prod/partner/main', partner],
      ['partner-relay/prod/instance/main', { baseUrl: partner.baseUrl }],
    ]);
  });
});

describe('a secret that verifies requests', () => {
  const fileOf = (verify: string) => `
    import { token, webhook } from 'partner-relay';
    export const on = webhook({ ${verify} body: { parse: () => ({}) }, input: {}, job: () => 'nothing' });
    export const run = async () => '';`;
  const KEY = Buffer.alloc(24, 7).toString('base64');

  it.each([
    ['github-webhook', { webhookSecret: ' ' }, 'is refused'],
    ['github-webhook', { webhookSecret: 'x'.repeat(15) }, 'is weak'],
    ['github-webhook', { webhookSecret: 'x'.repeat(16) }, 'is stored'],
    ['slack', { signingSecret: '\t' }, 'is refused'],
    ['slack', { signingSecret: 'x'.repeat(15), botToken: 'xoxb-1' }, 'is weak'],
    ['slack', { signingSecret: 'x'.repeat(16), botToken: 'xoxb-1' }, 'is stored'],
    ['hooks/standard', { secret: 'whsec_' }, 'is refused'],
    ['hooks/standard', { secret: '********' }, 'is refused'],
    ['hooks/standard', { secret: 'whsec_Z2VoZWlt' }, 'is refused'],
    ['hooks/standard', { secret: `whsec_${KEY}`, previous: 'geheim' }, 'is refused'],
    ['hooks/standard', { secret: `whsec_${KEY}` }, 'is stored'],
    ['hooks/token', { secret: ' ' }, 'is refused'],
    ['hooks/token', { secret: 'x' }, 'is weak'],
    ['hooks/token', { secret: 'x'.repeat(16) }, 'is stored'],
  ])('%s, entered as %j, %s', async (name, secret, becomes) => {
    const folder = withPackage(newFolder());
    await writeFile(join(folder, 'standard.ts'), fileOf(''));
    await writeFile(join(folder, 'token.ts'), fileOf("verify: token({ header: 'X-Token' }),"));
    const warned = vi.spyOn(console, 'error').mockImplementation(() => {});
    const refused = await enter(name, secret, folder).then(() => undefined, String);
    expect([refused !== undefined, warned.mock.calls.length > 0, stored.length > 0]).toEqual([
      becomes === 'is refused',
      becomes === 'is weak',
      becomes !== 'is refused',
    ]);
    expect(refused ?? '').toMatch(
      /^$|^Error: the secret [\w/-]+ is not stored:\s+(\w+: expected a text that is not blank|the secret has|expected Base64)/,
    );
    for (const value of Object.values(secret).filter((one) => one.trim().length > 1))
      expect(`${refused}${warned.mock.calls}`).not.toContain(value);
  });
});

describe('partner-relay secrets set hooks/<automation>', () => {
  it("keeps the other webhooks' secrets in the same secret, and shows only names", async () => {
    await enter('hooks/sentry-to-defect', { secret: 's-1' });
    await enter('hooks/pages', { secret: 's-2', previous: 's-0' });
    const shown = await enter('hooks/sentry-to-defect', { secret: 's-3' });
    const { SecretId, SecretString = '' } = stored.at(-1) ?? {};
    expect(SecretId).toBe('partner-relay/prod/hooks');
    expect(JSON.parse(SecretString)).toEqual({ 'sentry-to-defect': ['s-3'], pages: ['s-2', 's-0'] });
    expect(shown).toMatch(/^partner-relay\/prod\/hooks is stored \(sentry-to-defect, pages\)\./);
    expect(shown).not.toMatch(/s-\d/);
  });

  it.each([
    ['s-1\n', ['s-1']],
    ['123456', ['123456']],
    ['{"secret": "s-1", "previous": "s-0"}', ['s-1', 's-0']],
  ])('reads the text of the secret from a pipe, or JSON: %j', async (piped, becomes) => {
    await enter('hooks/pages', piped);
    expect(JSON.parse(stored.at(-1)?.SecretString ?? '')).toEqual({ pages: becomes });
  });

  it('does not accept half of a JSON text', async () => {
    await expect(enter('hooks/pages', '{"secret": "s-1"')).rejects.toThrow('standard input is not JSON');
  });

  const hold = (SecretString: string) => void stored.push({ SecretId: 'partner-relay/prod/hooks', SecretString });

  it('starts a secret with an empty value, and may be entered before its file is written, which it reports', async () => {
    const warned = vi.spyOn(console, 'error').mockImplementation(() => {});
    hold('');
    await enter('hooks/pages', { secret: 's-1' });
    const unused = 'Nothing uses the secret hooks/pages yet: automations/pages.ts has no webhook; there are none';
    expect(warned.mock.calls.flat()).toEqual([unused]);
    expect(JSON.parse(stored.at(-1)?.SecretString ?? '')).toEqual({ pages: ['s-1'] });
  });

  it.each(['no JSON', '["s-0"]'])('does not change a value in another format: %s', async (value) => {
    hold(value);
    const why =
      /^partner-relay\/prod\/hooks does not hold the secrets of webhooks.*: correct its value in Secrets Manager$/;
    await expect(enter('hooks/pages', { secret: 's-1' })).rejects.toThrow(why);
    expect(stored).toHaveLength(1);
  });
});
