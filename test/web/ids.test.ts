import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { shortName } from '../../lib/engine/record/job.ts';
import { isWithoutBrowser, launchChromium } from '../chromium.ts';
import { openConsole } from './console-page.ts';
import { type Seeded, type ShownRelay, seed, startShownRelay } from './shown-relay.ts';

describe.skipIf(isWithoutBrowser)('ids, states and addresses', () => {
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

  async function open(screen: string) {
    const opened = await openConsole(browser, shown.url, {
      time: shown.relay.clock.now,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    onTestFinished(opened.close);
    await opened.go(screen);
    return opened;
  }

  it('the list shows the short id; a click copies the whole one, and a double click selects what is shown', async () => {
    const { page, go } = await open('jobs');
    const name = shortName(jobs.settled);
    const row = page.getByRole('row').filter({ has: page.locator(`[data-item="${jobs.settled}"]`) });
    await row.getByRole('button', { name }).click();
    await page.getByText(`Copied: ${jobs.settled}`).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(jobs.settled);
    await go(`jobs/${jobs.settled}`);
    await page.getByRole('button', { name }).dblclick();
    expect(await page.evaluate('String(getSelection())')).toBe(name);
  });

  it('the id of a defect is a link where the configuration has its address', async () => {
    const { page, go } = await open('links');
    const made = shown.relay.sandbox.data.defects.find(({ title }) => String(title).startsWith('Search finds'));
    const address = `https://pm.example.com/defects/${made?.defect_id}`;
    expect(await page.getByRole('link', { name: String(made?.defect_id) }).getAttribute('href')).toBe(address);
    await go(`jobs/${jobs.settled}`);
    const result = page.locator('.result a').first();
    expect(await result.getAttribute('href')).toBe(address);
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

  it('times are local, with the zone and the milliseconds in the title', async () => {
    const { page } = await open(`jobs/${jobs.unknown}`);
    const created = page.locator('.facts time').first();
    expect(await created.getAttribute('title')).toMatch(/11:00:00\.\d{3}.* \(Europe\/Berlin\)$/);
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
});
