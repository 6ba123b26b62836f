import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { keepSecret, readKeptSecrets } from '../../local/kept-secrets.ts';
import { partnersOf } from '../../local/partners.ts';
import { githubWebhookOf, slackAppOf } from '../../local/secrets.ts';
import { workInNewFolder } from '../new-folder.ts';

beforeEach(() => void workInNewFolder());

const partner = { baseUrl: 'https://pm.example.com', apiKey: 'pk_main', secretKey: 'sk_main' };
const variables = { PARTNER_BASE_URL: 'https://pm.example.com', PARTNER_API_KEY: 'pk', PARTNER_SECRET_KEY: 'sk' };

describe('the secrets of this machine', () => {
  it('a secret is readable only by its owner, beside the others', async () => {
    keepSecret('partner/main', partner);
    keepSecret('github', { token: 'ghp_1' });
    keepSecret('github', { token: 'ghp_2' });
    expect(Object.fromEntries(readKeptSecrets())).toEqual({ 'partner/main': partner, github: { token: 'ghp_2' } });
    expect((await stat('.relay/secrets.json')).mode & 0o777).toBe(0o600);
    expect((await stat('.relay')).mode & 0o777).toBe(0o700);
    await chmod('.relay/secrets.json', 0o644);
    readKeptSecrets();
    expect((await stat('.relay/secrets.json')).mode & 0o777).toBe(0o600);
  });

  const ofPartner = (keys: object) =>
    JSON.stringify({ 'partner/main': { baseUrl: 'https://pm.example.com', ...keys } });
  const ofSlack = '{"slack": {"signingSecret": "sk_secret", "bottoken": "sk_secret"}}';
  const MISSING =
    /partner\/main has another shape: secretKey: missing; expected .*enter it again: npx partner-relay secrets set partner\/main/;
  it.each([
    ['no JSON', '{"partner/main": sk_secret', /it is not JSON; correct it, or remove it/],
    ['a list', '["sk_secret"]', /expected an object, found a list; correct it/],
    ['an unknown secret', '{"gihub": {"token": "sk_secret"}}', /there is no secret 'gihub'; did you mean 'github'\?/],
    ['a missing field', ofPartner({ apiKey: 'pk_sk_secret' }), MISSING],
    [
      'a secret key in place of the API key',
      ofPartner({ apiKey: 'sk_secret', secretKey: 'sk_secret' }),
      /apiKey: expected a key that begins with pk_/,
    ],
    ['another type', '{"github-webhook": {"webhookSecret": ["sk_secret"]}}', /expected a text, found a list/],
    ['a field that does not exist', ofSlack, /bottoken: this name is unknown; did you mean 'botToken'\?/],
  ])('a damaged file of secrets is named, with what to do and without a value: %s', async (_, text, expected) => {
    await mkdir('.relay');
    await writeFile('.relay/secrets.json', text);
    expect(readKeptSecrets).toThrow(expected);
    expect(readKeptSecrets).toThrow(/^(?!.*sk_secret)/s);
  });

  it('a generated secret stays the same, and a damaged one says what its removal means', async () => {
    const made = githubWebhookOf(new Map(), {});
    expect(githubWebhookOf(new Map(), {})).toEqual(made);
    expect(made.from).toBe('.relay/github-webhook.key');
    await writeFile('.relay/github-webhook.key', '');
    expect(() => githubWebhookOf(new Map(), {})).toThrow(
      /^\.relay\/github-webhook\.key is damaged: .*; remove it, and enter the new secret at your webhook$/,
    );
  });
});

describe('the instances of the connections', () => {
  const kept = new Map([
    ['partner/main', partner],
    ['partner/other', { ...partner, apiKey: 'pk_other' }],
  ]);

  it("each connection has its own secret, and a single connection may use the variables' secret", () => {
    expect(partnersOf(['main', 'other'], kept, {})?.get('other')).toMatchObject({ apiKey: 'pk_other' });
    expect(partnersOf(['main'], kept, variables)?.get('main')).toMatchObject({ apiKey: 'pk' });
    expect(partnersOf(['main', 'other'], new Map(), {})).toBeUndefined();
  });

  it('one set of variables is not enough for two connections', () => {
    expect(() => partnersOf(['main', 'other'], kept, variables)).toThrow(
      /connections main and other, and PARTNER_… can serve only one: .*secrets set partner\/main\n.*secrets set partner\/other$/s,
    );
  });
});

describe("the secrets of Slack's app", () => {
  it.each([
    ['the token alone', { SLACK_BOT_TOKEN: 'xoxb-1' }, /SLACK_BOT_TOKEN is set, but SLACK_SIGNING_SECRET is not/],
    ['the secret alone', { SLACK_SIGNING_SECRET: 's' }, /SLACK_SIGNING_SECRET is set, but SLACK_BOT_TOKEN is not/],
  ])('%s is a mistake', (_, given, expected) => {
    expect(() => slackAppOf(new Map(), given)).toThrow(expected);
  });

  it('an entered secret without a token is a mistake, and without both the stand-in is used', () => {
    const entered = new Map([['slack', { signingSecret: 's' }]]);
    expect(() => slackAppOf(entered, {})).toThrow(/has no bot token.*install the app/);
    expect(slackAppOf(new Map(), {})).toBeUndefined();
  });
});
