import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { linkUrl } from '../account-link-browser.ts';
import { sandboxCommands } from '../as-person/linked.ts';
import { isWithoutBrowser, launchChromium } from '../chromium.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { ask, command } from '../slack-requests.ts';

const CHECKOUT = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01';
const HOUR = 3_600_000;

/** Starts a relay with the sandbox, and a browser with an empty profile. */
async function start() {
  const connection = { mcp: { accounts: 'offered', commands: sandboxCommands() } as const };
  const relay = await startRelay({ config: exampleConfig({}, { connection }), sandbox: { mcp: { enabled: true } } });
  const browser = await launchChromium();
  onTestFinished(() => browser.close());
  return { relay, page: await browser.newPage() };
}

/** Opens the link from Slack, and consents at the service. @returns the code on the page */
async function linkIn(page: Page, relay: TestRelay): Promise<string> {
  await page.goto(await linkUrl(relay));
  await page.getByRole('button', { name: 'Sign in at' }).click();
  // The next page redirects to the service.
  const [person] = relay.sandbox.mcp.people;
  await page.getByLabel('Email').fill(person?.email ?? '');
  await page.getByLabel('Password').fill(person?.password ?? '');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'Allow' }).click();
  return (await page.locator('.code').innerText()).replace('/pm ', '');
}

const title = 'a person links their account in Chromium, acts with it, and links it again';
it.skipIf(isWithoutBrowser)(title, { timeout: 60_000 }, async () => {
  const { relay, page } = await start();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  expect((await command(relay, await linkIn(page, relay))).text).toContain('Your account is linked');
  expect(complaints.filter((text) => /content security policy/i.test(text))).toEqual([]);
  // The browser keeps nothing, so the page shows no code again.
  await page.reload();
  await page.getByRole('alert').waitFor();

  expect((await ask(relay, `log 1h ${CHECKOUT} as myself`)).inTheEnd).toContain('in your name');
  relay.clock.now += 2 * HOUR;
  expect((await ask(relay, `log 2h ${CHECKOUT} with a new token`)).inTheEnd).toContain('in your name');
  expect(relay.sandbox.mcp.audit.filter(({ calls }) => calls.includes('refresh_token'))).toHaveLength(1);

  relay.sandbox.mcp.revokeGrants();
  expect((await ask(relay, `log 3h ${CHECKOUT} after a while`)).inTheEnd).toContain('Link your account');
  await command(relay, await linkIn(page, relay));
  await ask(relay, `log 3h ${CHECKOUT} after a while`);
  const [person] = relay.sandbox.mcp.people;
  const logged = relay.timelogs().map(({ hours, user_id }) => [hours, user_id]);
  expect(logged).toEqual([1, 2, 3].map((hours) => [hours, person?.user_id]));
});
