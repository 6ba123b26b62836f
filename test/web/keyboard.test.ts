import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isWithoutBrowser, launchChromium } from '../chromium.ts';
import { openConsole } from './console-page.ts';
import { type Seeded, type ShownRelay, seed, startShownRelay } from './shown-relay.ts';

describe.skipIf(isWithoutBrowser)('by keyboard alone', () => {
  let browser: Browser;
  let shown: ShownRelay;
  let jobs: Seeded;
  beforeAll(async () => {
    browser = await launchChromium();
    shown = await startShownRelay();
    jobs = await seed(shown);
  });
  afterAll(async () => {
    await browser?.close();
    await shown?.close();
  });

  async function open() {
    const opened = await openConsole(browser, shown.url, { time: shown.relay.clock.now });
    onTestFinished(() => opened.close());
    await opened.page.locator('main h1').waitFor();
    const focused = (expression: string) => opened.page.evaluate(`document.activeElement.${expression}`);
    return { ...opened, focused };
  }

  it('the first key reaches the link that skips the navigation', async () => {
    const { page, focused } = await open();
    await page.keyboard.press('Tab');
    expect(await focused('textContent')).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    expect(await focused('id')).toBe('main');
    // The console puts its own address back.
    await expect.poll(() => new URL(page.url()).hash).toBe('#/');
  });

  it('a job is found, opened, and left for the list again', async () => {
    const { page, focused } = await open();
    await page.keyboard.press('2');
    await page.getByRole('heading', { name: 'Jobs' }).waitFor();
    await page.locator('[data-item]').first().waitFor();
    const items = await page.evaluate('[...document.querySelectorAll("[data-item]")].map((item) => item.dataset.item)');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('k');
    const [, second] = items as string[];
    expect(await focused('dataset.item')).toBe(second);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Where the time went' }).waitFor();
    expect(await focused('tagName')).toBe('H1');
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Jobs' }).waitFor();
    expect(await focused('dataset.item')).toBe(second);
  });

  it('a slash goes to the filter, Esc leaves it, and its text is in the address', async () => {
    const { page, focused } = await open();
    await page.keyboard.press('2');
    await page.getByRole('heading', { name: 'Jobs' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('passkeys');
    await page.getByText(/^3 jobs shown/).waitFor();
    expect(page.url()).toMatch(/#\/jobs\?text=passkeys$/);
    await page.keyboard.press('Escape');
    expect(await focused('tagName')).toBe('BODY');
  });

  it('a decision is made, and the focus returns to its button', async () => {
    const { page, go, changes, focused } = await open();
    await go(`jobs/${jobs.unknown}`);
    const button = page.getByRole('button', { name: 'It exists…' });
    await button.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'It exists' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(await focused('textContent')).toBe('It exists…');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    expect(await focused('tagName')).toBe('INPUT');
    await page.keyboard.type('b542cd7c');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('b542cd7c is not a defect_id').waitFor();
    expect(changes).toEqual([{ do: 'done', createdId: 'b542cd7c' }]);
  });

  it('a question mark lists the keys', async () => {
    const { page } = await open();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });
});
