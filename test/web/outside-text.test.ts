import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isWithoutBrowser, launchChromium } from '../chromium.ts';
import { expectNoOverflow, NARROW, openConsole, WIDE } from './console-page.ts';
import { hostileJobs } from './fixture/sample-jobs.ts';
import { startFixture } from './fixture/server.ts';

const UNSEEN = /\p{Bidi_Control}|(?!\n|\t)\p{Cc}/u;

describe.skipIf(isWithoutBrowser)('text from outside is text', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  it.each([WIDE, NARROW])('on every screen, $width px wide', async (viewport) => {
    const fixture = await startFixture({ jobs: [...hostileJobs], facts: { name: '<b>relay</b>' } });
    onTestFinished(() => fixture.close());
    const { page, go, complaints, close } = await openConsole(browser, fixture.url, { viewport });
    onTestFinished(close);
    for (const screen of ['now', 'jobs', 'parked', 'budget', ...hostileJobs.map(({ id }) => `jobs/${id}`)]) {
      await go(screen);
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      expect(await page.locator('main img, main script, main a[href^="javascript:"], b').count()).toBe(0);
      expect(await page.title()).not.toBe('broken in');
      expect(await page.locator('body').innerText()).not.toMatch(UNSEEN);
      await expectNoOverflow(page);
    }
    expect(complaints).toEqual([]);
  });

  it('a long text is cut until the reader asks for all of it', async () => {
    const fixture = await startFixture({ jobs: [...hostileJobs] });
    onTestFinished(() => fixture.close());
    const { page, go, close } = await openConsole(browser, fixture.url);
    onTestFinished(close);
    await go('jobs/hostile-3');
    const sentence = page.locator('.outcome');
    expect((await sentence.innerText()).length).toBeLessThan(1_000);
    await sentence.getByRole('button', { name: 'Show all 10,000 characters' }).click();
    expect((await sentence.innerText()).length).toBeGreaterThan(10_000);
  });
});
