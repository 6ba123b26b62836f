import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ConsolePage,
  expectAccessible,
  expectNoOverflow,
  inBrowser,
  NARROW,
  openConsole,
  openSession,
  WIDE,
} from './console-page.ts';
import { type Seeded, type ShownRelay, seed, seedHostile, startShownRelay } from './shown-relay.ts';

/** The screens. A job is named by its outcome. */
const SCREENS = [
  ...['now', 'jobs', 'jobs?person=octocat', 'jobs/<unknown>', 'jobs/<settled>', 'jobs/<hostile>'],
  ...['parked', 'links', 'try', 'nowhere'],
];
const LOOKS = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [WIDE, NARROW].map((viewport) => ({ colorScheme, viewport, width: viewport.width })),
);
const UNSEEN = /\p{Bidi_Control}|(?!\n|\t)\p{Cc}/u;

inBrowser('every screen is accessible', () => {
  let shown: ShownRelay;
  let jobs: Seeded & { hostile: string };
  let hostile: string[];
  beforeAll(async () => {
    shown = await startShownRelay({ name: '<b>relay</b>' });
    hostile = await seedHostile(shown);
    jobs = { ...(await seed(shown)), hostile: hostile[6] ?? '' };
  });
  afterAll(() => shown?.close());

  describe.each(LOOKS)('$colorScheme, $width px wide', ({ colorScheme, viewport }) => {
    let opened: ConsolePage;
    beforeAll(async () => {
      opened = await openSession(shown.url, { time: shown.relay.clock.now, colorScheme, viewport });
    });
    afterAll(() => opened.close());

    /** Goes to a screen, and waits until it is complete. */
    async function look(screen: string): Promise<void> {
      await opened.go(screen.replace(/<(\w+)>/, (_, name) => jobs[name as keyof typeof jobs]));
      await opened.page.locator('.loading').first().waitFor({ state: 'detached' });
    }

    it.each(SCREENS)('%s', async (screen) => {
      const { page, complaints } = opened;
      await look(screen);
      for (const folded of await page.locator('main details:not([open]) > summary').all()) {
        if (await folded.isVisible()) await folded.click();
      }
      await expectAccessible(page);
      await expectNoOverflow(page);
      expect(complaints).toEqual([]);
    });

    it('a question', async () => {
      const { page } = opened;
      await look('jobs/<unknown>');
      await page.getByRole('button', { name: 'Discard…' }).click();
      await page.getByRole('dialog').waitFor();
      await expectAccessible(page);
      await page.keyboard.press('Escape');
    });
  });

  it.each([WIDE, NARROW])('text from outside is text on every screen, $width px wide', async (viewport) => {
    const { page, go, complaints } = await openConsole(shown.url, { time: shown.relay.clock.now, viewport });
    for (const screen of ['now', 'jobs', 'parked', 'links', ...hostile.map((id) => `jobs/${id}`)]) {
      await go(screen);
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      expect(await page.locator('main img, main script, main a[href^="javascript:"], b').count()).toBe(0);
      expect(await page.title()).not.toBe('broken in');
      expect(await page.locator('body').innerText()).not.toMatch(UNSEEN);
      await expectNoOverflow(page);
    }
    await go(`jobs/${jobs.hostile}`);
    const sentence = page.locator('.outcome');
    expect((await sentence.innerText()).length).toBeLessThan(1_000);
    await sentence.getByRole('button', { name: 'Show all' }).click();
    expect((await sentence.innerText()).length).toBeGreaterThan(1_500);
    expect(complaints).toEqual([]);
  });
});
