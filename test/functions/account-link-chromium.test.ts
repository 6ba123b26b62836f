import { expect, it, onTestFinished } from 'vitest';
import { linkUrl } from '../account-link-browser.ts';
import { chromium, startChromium } from '../chromium.ts';
import { exampleConfig, startRelay } from '../relay.ts';
import { command } from '../slack-requests.ts';

/** Presses the page's button with that label, once it is there. */
const press = (label: string) =>
  `[...document.querySelectorAll('button')].some((one) => one.textContent.startsWith(${JSON.stringify(label)}) && (one.click(), true))`;

const fill = (fields: Readonly<Record<string, string>>) =>
  Object.entries(fields)
    .map(([name, value]) => `(document.querySelector('input[name=${name}]') ?? {}).value = ${JSON.stringify(value)}`)
    .join(';');

it.skipIf(!chromium)('a person links their account in Chromium', { timeout: 60_000 }, async () => {
  const config = exampleConfig({}, { connection: { mcp: { link: 'offered' } } });
  const relay = await startRelay({ config, sandbox: { mcp: { enabled: true } } });
  onTestFinished(() => relay.close());
  const browser = await startChromium(String(chromium));
  onTestFinished(() => browser.close());
  const [person] = relay.sandbox.mcp.people;
  await browser.open(await linkUrl(relay));
  await browser.until(press('Sign in at'));
  // The page that follows leads to the service by itself.
  await browser.until("document.querySelector('input[name=email]') !== null");
  await browser.until(`${fill({ email: person?.email ?? '', password: person?.password ?? '' })}; ${press('Sign in')}`);
  await browser.until(press('Continue'));
  await browser.until(press('Allow'));
  const code = await browser.until<string>("document.querySelector('.code')?.textContent");
  expect((await command(relay, code.replace('/pm ', ''))).text).toContain('Your account is linked');
  expect(browser.complaints().filter((text) => /content security policy/i.test(text))).toEqual([]);
  // The browser keeps nothing of it: going back shows no code.
  await browser.open(String(await browser.until('location.href')));
  await browser.until("document.querySelector('[role=alert]') !== null");
});
