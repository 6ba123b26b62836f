import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isWithoutBrowser, launchChromium } from '../chromium.ts';
import { type ConsolePage, expectAccessible, expectNoOverflow, NARROW, openConsole, WIDE } from './console-page.ts';
import { hostileJobs, sampleJobs, settledJob, unknownJob } from './fixture/sample-jobs.ts';
import { type Fixture, startFixture } from './fixture/server.ts';

const SCREENS = [
  ...['now', 'jobs', 'jobs?person=octocat', `jobs/${unknownJob.id}`, `jobs/${settledJob.id}`, 'jobs/hostile-3'],
  ...['parked', 'links', 'try', 'nowhere'],
];
const LOOKS = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [WIDE, NARROW].map((viewport) => ({ colorScheme, viewport, width: viewport.width })),
);

describe.skipIf(isWithoutBrowser)('every screen is accessible', () => {
  let browser: Browser;
  let fixture: Fixture;
  beforeAll(async () => {
    browser = await launchChromium();
    fixture = await startFixture({ jobs: [...sampleJobs, ...hostileJobs] });
  });
  afterAll(async () => {
    await browser?.close();
    await fixture?.close();
  });

  describe.each(LOOKS)('$colorScheme, $width px wide', ({ colorScheme, viewport }) => {
    let opened: ConsolePage;
    beforeAll(async () => {
      opened = await openConsole(browser, fixture.url, { colorScheme, viewport });
    });
    afterAll(() => opened.close());

    it.each(SCREENS)('%s', async (screen) => {
      const { page, go, complaints } = opened;
      await go(screen);
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      for (const folded of await page.locator('main details:not([open]) > summary').all()) {
        if (await folded.isVisible()) await folded.click();
      }
      await expectAccessible(page);
      await expectNoOverflow(page);
      expect(complaints).toEqual([]);
    });

    it('what is known of an unknown outcome', async () => {
      const { page, go } = opened;
      await go('parked');
      for (const text of ['If it was created, it contains', 'It may exist, because']) {
        await page.getByText(text).waitFor();
      }
    });

    it('a question', async () => {
      const { page, go } = opened;
      await go(`jobs/${unknownJob.id}`);
      await page.getByRole('button', { name: 'Discard…' }).click();
      await page.getByRole('dialog').waitFor();
      await expectAccessible(page);
      await page.keyboard.press('Escape');
    });
  });
});
