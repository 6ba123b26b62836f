import { expect, it, onTestFinished } from 'vitest';
import { linkUrl } from '../account-link-browser.ts';
import { isWithoutBrowser, launchChromium } from '../chromium.ts';
import { exampleConfig, startRelay } from '../relay.ts';
import { command } from '../slack-requests.ts';

it.skipIf(isWithoutBrowser)('a person links their account in Chromium', { timeout: 60_000 }, async () => {
  const config = exampleConfig({}, { connection: { mcp: { link: 'offered' } } });
  const relay = await startRelay({ config, sandbox: { mcp: { enabled: true } } });
  onTestFinished(() => relay.close());
  const browser = await launchChromium();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));

  const [person] = relay.sandbox.mcp.people;
  await page.goto(await linkUrl(relay));
  await page.getByRole('button', { name: 'Sign in at' }).click();
  // The page that follows leads to the service by itself.
  await page.getByLabel('Email').fill(person?.email ?? '');
  await page.getByLabel('Password').fill(person?.password ?? '');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'Allow' }).click();
  const code = await page.locator('.code').innerText();
  expect((await command(relay, code.replace('/pm ', ''))).text).toContain('Your account is linked');
  expect(complaints.filter((text) => /content security policy/i.test(text))).toEqual([]);
  // The browser keeps nothing of it: going back shows no code.
  await page.goto(page.url());
  await page.getByRole('alert').waitFor();
});
