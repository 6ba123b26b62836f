import { beforeEach, describe, expect, it } from 'vitest';
import type { CheckedCredential } from '../../lib/checks/credential-check.ts';
import type { RelayConfigInput } from '../../lib/config/schema.ts';
import { createBudget } from '../../lib/service/budget/budget.ts';
import { keys } from '../../lib/state/table/keys.ts';
import type { Fault } from '../../sandbox/faults.ts';
import { defaultKey } from '../../sandbox/sandbox.ts';
import type { GithubApi } from '../github-api.ts';
import { APP, newKeys } from '../github-identity.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay, type TestRelayOptions } from '../relay.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const ACCOUNT = 'Codertocat';

let relay: TestRelay;

async function start(options: TestRelayOptions & { connection?: RelayConfigInput['connections'][string] } = {}) {
  const { connection = {}, ...rest } = options;
  relay = await startRelay({ config: exampleConfig({}, { connection }), github: { token: 'ghp_known' }, ...rest });
  relay.github.tokens = new Set(['ghp_known']);
  relay.github.installedAt = new Set([ACCOUNT]);
}
beforeEach(() => start());

const check = async () => ((await relay.fire('credential-check')) as { checked: CheckedCredential[] }).checked;

/** The finding about one secret, on one line. */
async function found(secret: string): Promise<string> {
  const checked = (await check()).find((one) => one.secret === secret);
  return `${checked?.verdict}: ${checked?.why}`;
}

/** All values of a metric since the start. */
const recorded = (metric: string) => relay.metrics.map((line) => line[metric]).filter((value) => value !== undefined);

const enter = (name: string, value: object) => relay.stack.secrets.put(relay.stack.secretPrefix + name, value);
const partner = (key: object) => ({ baseUrl: relay.sandbox.url, ...key });
/** Enters the connection's key with changed fields. */
const enterKey = (fields: object) => enter('partner/main', { ...partner(defaultKey), ...fields });

describe('credential-check', () => {
  it('the check records working credentials for each secret', async () => {
    expect((await check()).map(({ secret, verdict }) => [secret, verdict])).toEqual([
      ['partner/main', 'good'],
      ['github', 'good'],
      ['slack', 'good'],
    ]);
    expect(relay.metrics).toEqual([
      expect.objectContaining({ Stage: 'test', ConnectionCredentialsFail: 0 }),
      expect.objectContaining({ GithubCredentialsFail: 0 }),
      expect.objectContaining({ SlackCredentialsFail: 0 }),
    ]);
    expect(relay.slack.calls.map(({ method }) => method)).toEqual(['auth.test']);
  });

  it.each([false, true])('the check opens and closes no breaker, and sees what works now: %s', async (isOpen) => {
    const breaker = () => relay.stores.table.get(keys.breaker('main'));
    relay.sandbox.setFault({ kind: 'key-revoked' });
    for (let id = 1; isOpen && id <= 4; id++) {
      await relay.post('issues', issueEvent('opened', { id }));
      await relay.work();
    }
    const before = await breaker();
    expect(before !== undefined).toBe(isOpen);
    for (let times = 0; times < 4; times++) expect(await found('partner/main')).toMatch(/^bad: .*revoked/);
    relay.sandbox.clearFaults();
    relay.clock.now += MINUTE;
    expect(await found('partner/main')).toMatch(/^good/);
    expect(await breaker()).toEqual(before);
    expect(recorded('ConnectionCredentialsFail')).toEqual([1, 1, 1, 1, 0]);
  });

  it('the check reports each failure with its reason, and still checks the others', async () => {
    await start({ github: { token: 'ghp_forgotten' }, slack: { signingSecret: 'secret', botToken: 'xoxb-forgotten' } });
    enter('partner/main', partner({ ...defaultKey, apiKey: 'pk_forgotten' }));
    const failing = [
      { secret: 'partner/main', why: expect.stringContaining('Unknown or revoked key') },
      { secret: 'github', why: `GitHub answers GET ${relay.github.url}/rate_limit with 401: Bad credentials` },
      { secret: 'slack', why: 'Slack refuses auth.test: invalid_auth' },
    ];
    expect(await check()).toEqual(failing.map((one) => ({ ...one, verdict: 'bad' })));
    const [found, news] = [failing.length, { message: 'new trouble' }];
    expect(relay.log.slice(0, found)).toEqual(failing.map((one) => ({ ...one, message: 'credentials bad' })));
    expect(relay.log.slice(found)).toMatchObject([news]);
    for (const metric of ['ConnectionCredentialsFail', 'GithubCredentialsFail', 'SlackCredentialsFail']) {
      expect(recorded(metric)).toEqual([1]);
    }
    expect(JSON.stringify([relay.log, relay.metrics])).not.toMatch(/pk_|sk_|ghp_|xoxb/);
  });

  it('the check reports missing credentials, which resets the alarm', async () => {
    await start({ github: {}, slack: { signingSecret: 'secret' } });
    expect(await found('github')).toBe('skipped: the secret has neither an App nor a token');
    expect(await found('slack')).toBe('skipped: the secret has no botToken');
    expect(recorded('GithubCredentialsFail')).toEqual([0, 0]);
  });

  it('the check skips Slack if it is not configured', async () => {
    const { slack: _, ...config } = exampleConfig();
    await start({ config });
    expect((await check()).map(({ secret }) => secret)).toEqual(['partner/main', 'github']);
  });

  it('the check reads secrets again, so it never checks an old key', async () => {
    await check();
    relay.clock.now += HOUR;
    const rotated = { apiKey: 'pk_rotated', secretKey: 'sk_rotated', scopes: ['*'] };
    relay.sandbox.keys.push(rotated);
    relay.sandbox.revokeKey(defaultKey.apiKey);
    enter('partner/main', partner(rotated));
    expect(await found('partner/main')).toMatch(/^good/);
  });

  it('an unexpected error is thrown after the other credentials are recorded', async () => {
    const randomBytes = () => expect.fail('no randomness');
    await start({ runtime: { randomBytes } });
    await expect(check()).rejects.toThrow('1 of 3 credentials were not checked');
    expect(relay.log).toMatchObject([
      { message: 'credentials could not be checked', secret: 'partner/main', error: expect.any(String) },
      { message: 'credentials good', secret: 'github' },
      { message: 'credentials good', secret: 'slack' },
    ]);
    expect(recorded('ConnectionCredentialsFail')).toEqual([]);
  });
});

describe('a connection', () => {
  it.each<[string, () => unknown, RegExp]>([
    ['with a revoked key', () => relay.sandbox.revokeKey(defaultKey.apiKey), /^bad: .*Unknown or revoked key/],
    ['with another secret key', () => enterKey({ secretKey: 'x' }), /^bad: .*Invalid signature/],
    ['without a field in its secret', () => enterKey({ apiKey: undefined }), /^bad: .*or invalid fields: apiKey/],
    ['with an address that is no base URL', () => enterKey({ baseUrl: 'ftp://x' }), /^bad: /],
    ['with a host that is down', () => enterKey({ baseUrl: 'http://127.0.0.1:2' }), /^bad: .*cannot be reached/],
    ['behind a page', () => relay.sandbox.setFault({ kind: 'maintenance' }), /^bad: .*503 \(a maintenance page\)/],
  ])('the check reports %s', async (_, fault, told) => {
    await fault();
    expect(await found('partner/main')).toMatch(told);
    expect(recorded('ConnectionCredentialsFail')).toEqual([1]);
    expect([...recorded('CredentialsRefused'), ...recorded('RateLimited')]).toEqual([]);
  });

  it.each<[string, Fault, RegExp]>([
    ['is good where the first try was bad luck', { kind: 'server-error', times: 1 }, /^good/],
    ['is good where the first answer was lost', { kind: 'cut', times: 1 }, /^good/],
    ['is bad where the second try fails too', { kind: 'server-error' }, /^bad: .*the service answers 500/],
  ])('%s', async (_, fault, told) => {
    relay.sandbox.setFault(fault);
    expect(await found('partner/main')).toMatch(told);
  });

  it('the last result stays if the service wants fewer calls, which pauses the connection for everyone', async () => {
    relay.sandbox.setFault({ kind: 'rate-limited' });
    expect(await found('partner/main')).toMatch(/^unknown: the service wants fewer calls/);
    expect([recorded('ConnectionCredentialsFail'), recorded('RateLimited')]).toEqual([[], [1]]);
    const { requests } = relay.sandbox;
    await relay.post('issues', issueEvent('opened'));
    await relay.work();
    expect(relay.sandbox.requests).toBe(requests);
  });

  it("the last result stays if the day's calls are used up", async () => {
    await start({ connection: { limits: { perDay: 1 } } });
    await relay.post('issues', issueEvent('opened'));
    await relay.work();
    expect(await found('partner/main')).toMatch(
      /^unknown: background calls have used up their share of the day's 1 calls/,
    );
    expect(recorded('ConnectionCredentialsFail')).toEqual([]);
  });

  it("the check leaves room for people's commands", async () => {
    const limits = { perMinute: 2, perDay: 100 };
    await start({ connection: { limits } });
    await check();
    expect(await found('partner/main')).toMatch(
      /^unknown: background calls have used up their share of the minute's 2 calls/,
    );
    const { lanes } = await createBudget(relay.stores).view('main', limits);
    expect(lanes.interactive.left).toBe(1);
  });
});

describe('GitHub', () => {
  const TOKEN = { token: 'ghp_known' };
  const app = (privateKey: string | undefined) => ({ ...APP, privateKey });
  it.each<[string, () => object, RegExp]>([
    ['an App', () => APP, /^good/],
    ['an App and a token', () => ({ ...APP, ...TOKEN }), /^good/],
    ['a token that ended', () => ({ token: 'ghp_ended' }), /^bad: .*\/rate_limit with 401: Bad credentials/],
    ['an App, and a token that ended', () => ({ ...APP, token: 'ghp_ended' }), /^bad: .*\/rate_limit with 401/],
    ['a token, an App with another key', () => ({ ...app(newKeys().privateKey), ...TOKEN }), /^bad: .*\/app with 401/],
    ['an App with half a key', () => app(APP.privateKey.slice(0, 99)), /^bad: nothing can be signed/],
    ['an App without its key', () => app(undefined), /^bad: the secret has an appId without a privateKey/],
  ])('credentials are checked with %s', async (_, secret, told) => {
    await start({ github: secret() });
    expect(await found('github')).toMatch(told);
  });

  it('GitHub fails if the App is not installed on a configured account', async () => {
    await start({ config: exampleConfig({}, { also: ['acme/web'] }), github: APP });
    expect(await found('github')).toBe(
      `bad: the GitHub App is not installed there: GitHub answers GET ${relay.github.url}/repos/acme/web/installation with 404`,
    );
  });

  it('each account is requested once, however many repositories it has', async () => {
    const also = [`${ACCOUNT}/Another`, `${ACCOUNT}/Third`];
    await start({ config: exampleConfig({}, { also }), github: APP });
    expect(await found('github')).toMatch(/^good/);
    expect(relay.github.requests.filter((request) => request.endsWith('/installation'))).toHaveLength(1);
  });

  it('GitHub without rate limits passes', async () => {
    relay.github.refusal = { status: 404, message: 'Rate limiting is not enabled.' };
    expect(await found('github')).toMatch(/^good/);
  });

  it.each<[string, GithubApi['failures'], RegExp]>([
    ['it answers nothing once', ['cut'], /^good/],
    ['it answers 502 once', [{ status: 502 }], /^good/],
    ['it answers nothing at all', ['cut', 'cut'], /^bad: GitHub did not answer GET /],
    ['it answers 502 again', [{ status: 502 }, { status: 502 }], /^bad: GitHub answers GET .*\/rate_limit with 502/],
    ['it wants fewer', [{ status: 403, headers: { 'x-ratelimit-remaining': '0' } }], /^unknown: GitHub wants fewer/],
  ])('if %s', async (_, failures, told) => {
    relay.github.failures.push(...failures);
    expect(await found('github')).toMatch(told);
  });
});

it.each([
  ['answers nothing once', { kind: 'cut' }, /^good/],
  ['answers nothing at all', { kind: 'cut', times: 2 }, /^bad: Slack did not answer auth.test/],
  ['fails', { kind: 'server-error', times: 2 }, /^bad: Slack answers auth.test with status 5/],
  ['wants fewer calls', { kind: 'rate-limited' }, /^unknown: Slack wants fewer calls/],
  ['knows the app no more', { kind: 'error', error: 'account_inactive' }, /^bad: .*account_inactive/],
] as const)('Slack is checked if it %s', async (_, failure, told) => {
  relay.slack.fail({ method: 'auth.test', ...failure });
  expect(await found('slack')).toMatch(told);
});
