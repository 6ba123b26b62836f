import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Holder } from '../../lib/as-person/grants/grant.ts';
import { createGrants } from '../../lib/as-person/grants/grants.ts';
import { createVault } from '../../lib/as-person/grants/vault.ts';
import { grantRequestKey } from '../../lib/as-person/linking/grant-requests.ts';
import { scopes } from '../../lib/as-person/protocol/oauth/scopes.ts';
import { digest } from '../../lib/digest.ts';
import { linkMessage } from '../../lib/platforms/slack/link-messages.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { codeOn, LinkBrowser, linkAccount, linkUrl, serviceUrl, urlIn } from '../account-link-browser.ts';
import { watchTable } from '../console/table-calls.ts';
import { exampleConfig, startRelay, type TestRelay, type TestRelayOptions } from '../relay.ts';
import { type Choices, consent } from '../sandbox/mcp/consent.ts';
import { command, MIRA, press, readable, TOMASZ } from '../slack-requests.ts';

const MINUTE = 60_000;

let relay: TestRelay;

async function start({ sandbox, ...options }: TestRelayOptions = {}) {
  const config = exampleConfig({}, { connection: { mcp: { accounts: 'offered' } } });
  relay = await startRelay({ config, sandbox: { ...sandbox, mcp: { enabled: true, ...sandbox?.mcp } }, ...options });
}
beforeEach(() => start());

const holder = (id: string): Holder => ({ in: 'slack', id });

function grants() {
  const { table, secrets } = relay.stores;
  const { clock, randomBytes } = relay.runtime;
  return createGrants(table, createVault(secrets, randomBytes), clock);
}

const grantOf = (userId: string) => grants().get('main', holder(userId));

const underWay = (userId: string) =>
  relay.stores.table.get(grantRequestKey({ holder: holder(userId), connection: 'main' }));

/** A page with this status and text. */
const shows = (status: number, text: string) => ({ status, html: expect.stringContaining(text) });

/**
 * A person has asked for a link, opened it, and signed in at the service. @returns where the service redirects the
 * browser
 */
async function consented(asked?: Parameters<typeof linkUrl>[1], choices?: Choices) {
  const browser = new LinkBrowser();
  return { browser, callback: await browser.consent(await linkUrl(relay, asked), relay.sandbox, choices) };
}

describe('a person', () => {
  it('links their account: button, sign-in, consent, code', async () => {
    const linked = await linkAccount(relay);
    expect(linked).toContain(
      "Your account is linked. Commands use Partner Relay's own account until your Partner Relay administrator changes that.",
    );
    expect(linked).toContain('You allowed Partner Relay to use the MCP endpoint, read projects,');
    expect(await grantOf(MIRA)).toMatchObject({ scopes: expect.arrayContaining(['mcp:timelogs.write']) });
    expect(await underWay(MIRA)).toBeUndefined();
    const status = (await command(relay, 'status')).text;
    expect(status).toMatch(/Your account has been linked since <.*>, with the workspace that you chose\. Commands use/);
  });

  it("links it on pages that do not read the service's key", async () => {
    relay.stack.secrets.put(`${relay.stack.secretPrefix}partner/main`, {});
    expect(await linkAccount(relay)).toContain('Your account is linked');
  });

  it('gets a link when they press the button, however old the message is', async () => {
    const answer = await command(relay, 'link');
    expect(JSON.stringify(answer.blocks)).not.toContain('http');
    relay.clock.now += 24 * 60 * MINUTE;
    await press(relay, answer, 'Link your account');
    expect((await new LinkBrowser().open(urlIn(relay))).status).toBe(200);
  });

  it('unlinks the account', async () => {
    await linkAccount(relay);
    expect((await command(relay, 'unlink')).text).toContain('withdraw it there');
    expect(await grantOf(MIRA)).toBeUndefined();
    expect((await command(relay, 'unlink')).text).toContain('You have not linked an account');
    expect((await command(relay, 'status')).text).toContain('You have not linked an account');
  });

  it('discards a link that waits for its code, too', async () => {
    const { browser, callback } = await consented();
    const code = codeOn(await browser.open(callback));
    await command(relay, 'unlink');
    await command(relay, `link ${code}`);
    expect(await grantOf(MIRA)).toBeUndefined();
  });

  it('opens the link from Slack, which tells the relay so', async () => {
    await linkUrl(relay);
    expect((await press(relay, relay.lastMessage(), 'Open in the browser')).status).toBe(200);
  });

  it('asks for the missing scopes, together with all others that the relay can use', async () => {
    await linkAccount(relay, { choices: { scopes: ['mcp:use', 'mcp:tasks.read'] } });
    const again = linkMessage('A scope is missing.', 'main', ['mcp:timelogs.write', 'mcp:unlisted']);
    await press(relay, again, 'Link your account');
    const url = serviceUrl(await new LinkBrowser().begin(urlIn(relay)));
    const asked = new URL(url).searchParams.get('scope')?.split(' ');
    expect(asked?.sort()).toEqual([...Object.keys(scopes), 'mcp:unlisted'].sort());
  });

  it('reads in the status why the link no longer works', async () => {
    await linkAccount(relay);
    await grants().die((await grantOf(MIRA)) ?? expect.fail('no account is linked'), 'refused');
    const { text } = await command(relay, 'status');
    expect(text).toContain('it was revoked, or not used for 30 days');
    expect(text).toContain('until then, Partner Relay cannot act in your name');
  });

  it('can change nothing before linking, if relay.config.ts requires a linked account', async () => {
    await start({ config: exampleConfig({}, { connection: { mcp: { accounts: 'required' } } }) });
    for (const text of ['log 1h "Login with passkeys"', 'done 12', 'defect', 'find checkout']) {
      expect((await command(relay, text)).text).toContain('Link your account first: /pm link');
    }
    await linkAccount(relay);
    expect((await command(relay, 'find checkout')).text).toContain('An administrator can set it up');
  });

  it('reads that accounts are not linked if relay.config.ts does not say so', async () => {
    await start({ config: exampleConfig() });
    for (const text of ['link', 'link 123-456']) {
      expect((await command(relay, text)).text).toContain('People do not link accounts here');
    }
    expect((await command(relay, 'status')).text).not.toContain('account');
  });

  it('reads on the page why the service refused', async () => {
    const { browser, callback } = await consented({}, { decision: 'deny' });
    expect(await browser.open(callback)).toMatchObject(shows(403, 'The person did not allow it'));
    expect(await grantOf(MIRA)).toBeUndefined();
  });

  it('reads on the page that an administrator has to enable MCP', async () => {
    await start({ sandbox: { mcp: { enabled: false } } });
    const browser = new LinkBrowser();
    const { headers } = await fetch(serviceUrl(await browser.begin(await linkUrl(relay))), { redirect: 'manual' });
    expect(await browser.open(headers.get('location') ?? '')).toMatchObject(
      shows(403, 'An administrator has to enable MCP'),
    );
  });
});

describe('a forwarded link', () => {
  it('links no account: the other person sees a code that is not theirs, and the person who asked does not see it', async () => {
    // Tomasz asks for a link, and makes Mira open it.
    const { browser: mira, callback } = await consented({ userId: TOMASZ }, { email: 'mira.novak@example.com' });
    const page = await mira.open(callback);
    expect(page.html).toContain('Do not share the code');
    // Before a person enters the code, no account is linked.
    expect(await grantOf(TOMASZ)).toBeUndefined();
    expect((await command(relay, `link ${codeOn(page)}`, { userId: MIRA })).text).toContain('No link is waiting');
    expect(await grantOf(MIRA)).toBeUndefined();
    // Tomasz does not know the code, and guessing ends the link.
    const wrong = codeOn(page) === '111-111' ? '222-222' : '111-111';
    for (const left of [4, 3, 2, 1]) {
      const { text } = await command(relay, `link ${wrong}`, { userId: TOMASZ });
      expect(text).toContain(`${left} more tr`);
    }
    expect((await command(relay, `link ${wrong}`, { userId: TOMASZ })).text).toContain('the last try');
    await command(relay, `link ${codeOn(page)}`, { userId: TOMASZ });
    expect(await grantOf(TOMASZ)).toBeUndefined();
    expect(await underWay(TOMASZ)).toBeUndefined();
  });

  it('names the person who asked for it, before anyone signs in', async () => {
    const { html } = await new LinkBrowser().open(await linkUrl(relay));
    expect(html).toContain('<strong>mira</strong> asked in Slack');
    expect(html).toContain('If another person sent you this link, close the page');
  });

  it('works only in the browser that opened it first', async () => {
    const url = await linkUrl(relay);
    const first = new LinkBrowser();
    const callback = await first.consent(url, relay.sandbox);
    expect((await new LinkBrowser().open(url)).status).toBe(410);
    // The callback without the cookie, and with another link's cookie.
    const other = new LinkBrowser();
    expect((await other.open(callback)).status).toBe(400);
    await other.begin(await linkUrl(relay, { userId: TOMASZ }));
    expect((await other.open(callback)).status).toBe(400);
    // The real callback still works.
    expect((await first.open(callback)).status).toBe(200);
  });

  it("brings nobody into another person's account: a callback with another link's state is refused", async () => {
    const { callback: theirs } = await consented({ userId: TOMASZ }, { email: 'tomasz.zielinski@example.com' });
    const mira = new LinkBrowser();
    const own = serviceUrl(await mira.begin(await linkUrl(relay)));
    expect((await mira.open(theirs)).status).toBe(400);
    expect((await mira.open(await consent(relay.sandbox, own))).status).toBe(200);
  });
});

it("a service that redirects the browser to another connection gets neither that connection's code nor its verifier", async () => {
  const config = exampleConfig({}, { connection: { mcp: { accounts: 'offered' } } });
  const { main } = config.connections;
  const evil = await startSandbox({ mcp: { enabled: true } });
  onTestFinished(() => evil.close());
  const sent: string[] = [];
  relay = await startRelay({
    config: { ...config, connections: { ...config.connections, ...(main && { evil: main }) } },
    sandbox: { mcp: { enabled: true } },
    runtime: {
      async fetch(url, init) {
        if (String(url).startsWith(evil.url)) sent.push(new URL(String(url)).pathname);
        const answer = await fetch(url, init);
        if (!String(url).includes('oauth-authorization-server')) return answer;
        // The metadata do not promise that the instance names itself.
        const metadata = Object(await answer.json());
        return Response.json({ ...metadata, authorization_response_iss_parameter_supported: false });
      },
    },
  });
  const [key] = evil.keys;
  relay.stack.secrets.put(`${relay.stack.secretPrefix}partner/evil`, { baseUrl: evil.url, ...key });
  relay.stack.secrets.put(`${relay.stack.secretPrefix}instance/evil`, { baseUrl: evil.url });
  const mira = new LinkBrowser();
  const honest = new URL(serviceUrl(await mira.begin(await linkUrl(relay))));
  await press(relay, linkMessage('Link it there, too.', 'evil'), 'Link your account');
  const forwarded = new URL(serviceUrl(await mira.begin(urlIn(relay))));
  // The client and its redirect URI are public, and the hostile service saw everything else in the request.
  for (const name of ['client_id', 'redirect_uri', 'resource']) {
    forwarded.searchParams.set(name, honest.searchParams.get(name) ?? '');
  }
  const callback = await consent(relay.sandbox, `${honest.origin}${honest.pathname}${forwarded.search}`);
  callback.searchParams.delete('iss');
  sent.length = 0;
  expect((await mira.open(callback)).status).toBe(400);
  expect(sent).toEqual([]);
});

describe('each step of a link', () => {
  it.each(['GET', 'POST'] as const)('ends after ten minutes: the URL, by %s', async (method) => {
    const url = await linkUrl(relay);
    relay.clock.now += 10 * MINUTE;
    const [page, ticket = ''] = url.split('?ticket=');
    const post = { method, body: new URLSearchParams({ ticket }) };
    const answer = await new LinkBrowser().open(method === 'GET' ? url : String(page), method === 'GET' ? {} : post);
    expect(answer).toMatchObject(shows(410, 'Ask for a new link'));
  });

  it('ends if relay.config.ts no longer says that accounts are linked', async () => {
    const { browser, callback } = await consented();
    const { main } = relay.runtime.config.connections;
    Object.assign(main?.mcp ?? {}, { accounts: 'off' });
    expect(await browser.open(callback)).toMatchObject(shows(404, 'No accounts are linked on &#39;main&#39; any more'));
    expect(await grantOf(MIRA)).toBeUndefined();
  });

  it('ends after ten minutes: the code', async () => {
    const { browser, callback } = await consented();
    const page = await browser.open(callback);
    expect(page.html).toContain('within 10 minutes:');
    const code = codeOn(page);
    relay.clock.now += 10 * MINUTE;
    expect((await command(relay, `link ${code}`)).text).toContain('it has expired');
    expect(await grantOf(MIRA)).toBeUndefined();
  });

  it('works once: the URL, the callback and the code', async () => {
    const browser = new LinkBrowser();
    const url = await linkUrl(relay);
    const callback = await browser.consent(url, relay.sandbox);
    const cookies = new Map(browser.cookies);
    expect((await browser.open(url)).status).toBe(410);
    const code = codeOn(await browser.open(callback));
    browser.cookies = cookies;
    expect(await browser.open(callback)).toMatchObject({ status: 400 });
    await command(relay, `link ${code}`);
    const first = await grantOf(MIRA);
    await command(relay, `link ${code}`);
    expect(await grantOf(MIRA)).toEqual(first);
  });

  it('is over once the person asks for another link', async () => {
    const { browser, callback } = await consented();
    await linkUrl(relay);
    expect((await browser.open(callback)).status).toBe(400);
  });

  it('can be tried again if the service does not answer at first', async () => {
    const url = await linkUrl(relay);
    relay.sandbox.setFault({ kind: 'server-error', operation: '/oauth/register', times: 1 });
    expect((await new LinkBrowser().begin(url)).status).toBe(503);
    expect((await new LinkBrowser().consent(url, relay.sandbox)).searchParams.has('code')).toBe(true);
  });

  it('ends with a page if the service issues no tokens', async () => {
    const { browser, callback } = await consented();
    relay.sandbox.setFault({ kind: 'maintenance', status: 200, operation: '/oauth/token', times: 1 });
    expect(await browser.open(callback)).toMatchObject(shows(502, 'Nothing was linked'));
    expect(await grantOf(MIRA)).toBeUndefined();
  });
});

describe("a person's share of sign-ins", () => {
  const asked = () => relay.sandbox.mcp.audit.length;

  it("ends with the fifth sign-in within an hour, costs nothing after that, and does not reduce others' shares", async () => {
    for (let begun = 0; begun < 5; begun++) {
      expect((await new LinkBrowser().begin(await linkUrl(relay))).status).toBe(200);
    }
    const before = asked();
    const sixth = await linkUrl(relay);
    expect(await new LinkBrowser().begin(sixth)).toMatchObject(
      shows(429, 'You have begun 5 sign-ins within this hour'),
    );
    expect(asked()).toBe(before);
    expect((await new LinkBrowser().begin(await linkUrl(relay, { userId: TOMASZ }))).status).toBe(200);
    relay.clock.now += 60 * MINUTE;
    expect((await new LinkBrowser().begin(await linkUrl(relay))).status).toBe(200);
  });

  it('counts one URL that is sent many times at once', async () => {
    const url = await linkUrl(relay);
    const begun = await Promise.allSettled(Array.from({ length: 12 }, () => new LinkBrowser().begin(url)));
    expect(begun.filter((one) => one.status === 'fulfilled' && one.value.status === 200)).toHaveLength(1);
    expect(relay.sandbox.mcp.audit.filter(({ calls }) => calls.includes('initialize')).length).toBeLessThanOrEqual(5);
  });
});

describe('a page for linking', () => {
  it('is in no frame, cache or referrer, and runs no scripts', async () => {
    const { headers } = await new LinkBrowser().open(await linkUrl(relay));
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
    );
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  });

  it.each([
    ['no ticket', 'start', 410],
    ['an invalid ticket', 'start?ticket=%3Cscript%3E', 410],
    ['no cookie', 'callback/main?code=x&state=y', 400],
  ])('answers %s with what to do', async (_, path, status) => {
    const page = await new LinkBrowser().open(`${relay.runtime.environment.ACCOUNT_LINK_URL}/${path}`);
    expect(page).toMatchObject({ status, html: expect.stringContaining('Ask for a new link') });
    expect(page.html).not.toContain('<script');
  });
});

it.each([
  ['GET', `start?ticket=${MIRA}.main.${'x'.repeat(43)}`],
  ['POST', 'start'],
  ['GET', 'callback/main?code=x&state=y'],
])("a stranger's request makes at most one read of the table, whatever its cookies: %s %s", async (method, path) => {
  const table = watchTable();
  onTestFinished(() => table.close());
  const ticket = (n: number) => `${MIRA}.main.${String(n).padStart(43, 'x')}`;
  const names = ['y', ...Array.from({ length: 30 }, (_, n) => String(n))];
  const cookies = names.flatMap((name, n) =>
    ['', '__Host-'].map((prefix) => `${prefix}account-link-${digest(name)}=${ticket(n)}`),
  );
  const answer = await fetch(`${relay.runtime.environment.ACCOUNT_LINK_URL}/${path}`, {
    method,
    headers: { cookie: cookies.join('; ') },
    ...(method === 'POST' && { body: new URLSearchParams({ ticket: ticket(1) }) }),
  });
  expect([400, 410]).toContain(answer.status);
  expect(table.calls).toEqual([{ action: 'GetItem' }]);
});

it('the record of an unconfirmed link is sealed, and contains no secret of the browser', async () => {
  const browser = new LinkBrowser();
  const url = await linkUrl(relay);
  const asService = new URL(serviceUrl(await browser.begin(url)));
  const state = asService.searchParams.get('state');
  const opened = JSON.stringify(await underWay(MIRA));
  for (const secret of [state, browser.cookie.split('.').at(-1), url.split('.').at(-1)])
    expect(opened).not.toContain(secret);
  const code = codeOn(await browser.open(await consent(relay.sandbox, asService)));
  expect(JSON.stringify(await underWay(MIRA))).not.toContain(code);
  for (const secret of [code, browser.cookie, state].filter(Boolean))
    expect(JSON.stringify(relay.log)).not.toContain(secret);
  expect(readable(relay.lastMessage().blocks)).toContain('only for you');
});
