import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isWithoutBrowser, launchChromium } from '../chromium.ts';
import { expectAccessible, expectNoOverflow, NARROW, openConsole } from './console-page.ts';
import { settledJob } from './fixture/sample-jobs.ts';
import { startFixture } from './fixture/server.ts';

const CLIPBOARD = { permissions: ['clipboard-read', 'clipboard-write'] };

describe.skipIf(isWithoutBrowser)('ids, states and addresses', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  async function open(screen: string) {
    const fixture = await startFixture();
    onTestFinished(() => fixture.close());
    const opened = await openConsole(browser, fixture.url, CLIPBOARD);
    onTestFinished(opened.close);
    await opened.go(screen);
    return { ...opened, fixture };
  }

  it('the list shows the short id; a click copies the whole one, and a double click selects what is shown', async () => {
    const { page, go } = await open('jobs');
    const row = page.getByRole('row').filter({ has: page.locator(`[data-item="${settledJob.id}"]`) });
    await row.getByRole('button', { name: settledJob.shortName }).click();
    await page.getByText(`Copied: ${settledJob.id}`).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(settledJob.id);
    await go(`jobs/${settledJob.id}`);
    await page.getByRole('button', { name: settledJob.shortName }).dblclick();
    expect(await page.evaluate('String(getSelection())')).toBe(settledJob.shortName);
  });

  it('the id of a defect is a link where the configuration has its address', async () => {
    const { page, go } = await open('links');
    const id = 'b542cd7c-6c1f-4828-b4c8-84e4248d28f7';
    expect(await page.getByRole('link', { name: id }).getAttribute('href')).toBe(
      `https://pm.example.com/defects/${id}`,
    );
    await go(`jobs/${settledJob.id}`);
    const result = page.locator('.result a').first();
    expect(await result.getAttribute('href')).toMatch(/^https:\/\/pm\.example\.com\/defects\/[\w-]+$/);
    expect(await result.getAttribute('target')).toBe('_blank');
  });

  it.each(['Escape', 'the link'])('%s leads back to the list with its filter', async (way) => {
    const { page } = await open('jobs?text=passkeys');
    await page.getByText(/^3 jobs shown/).waitFor();
    await page.locator('[data-item]').first().click();
    await page.getByRole('heading', { name: 'Where the time went' }).waitFor();
    if (way === 'Escape') await page.keyboard.press('Escape');
    else await page.locator('[data-back]').click();
    await page.getByText(/^3 jobs shown/).waitFor();
    expect(page.url()).toMatch(/#\/jobs\?text=passkeys$/);
  });

  it('lanes and states say what they mean', async () => {
    const { page } = await open('now');
    await page.getByRole('region', { name: 'main' }).getByText('Last minute').click();
    const lanes = page.locator('.lanes').first().getByRole('rowheader');
    expect(await lanes.evaluateAll((all) => all.map(({ title }) => title))).toEqual([
      'A person’s first command',
      'A person’s next commands',
      'Everything else',
      'What a backfill brings, behind everything else',
    ]);
    const states = await page.locator('main .mark').evaluateAll((all) => all.map(({ title }) => title));
    expect(states.length).toBeGreaterThan(5);
    expect(states).not.toContain('');
  });

  it.each([
    ['without a token', '', 'Open the address that the relay printed'],
    ['with a wrong token', '#token=wrong', 'The token is not accepted'],
  ])('a page %s says what is true, and fits a phone', async (_, hash, heading) => {
    const fixture = await startFixture();
    onTestFinished(() => fixture.close());
    const { page, close } = await openConsole(browser, `http://127.0.0.1:${fixture.port}/${hash}`, {
      viewport: NARROW,
    });
    onTestFinished(close);
    await page.getByRole('heading', { name: heading }).waitFor();
    await page.getByText('npm run -s relay -- console --open').waitFor();
    await expectAccessible(page);
    await expectNoOverflow(page);
  });
});
