import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { logTimeModal } from '../../../lib/platforms/slack/views/views.ts';
import { reminderMessage } from '../../../lib/timesheets/reminder-message.ts';
import { launchChromium } from '../../chromium.ts';
import { seed, startShownRelay } from '../shown-relay.ts';
import { formPage, messagePage } from './slack.ts';
import { storyOfStart, terminalPage, withoutChance } from './terminal.ts';

/**
 * `npm run screenshots`: draws the pictures of the README and the docs into docs/images/. The console shows a relay
 * with its sandbox; the terminal shows the output of `npm start`; the messages are the relay's own.
 */

const NOW = Date.parse('2026-11-20T14:05:00.000+01:00');
const FOLDER = join(import.meta.dirname, '../../../docs/images');
const QUALITY = 82;
const SCREENS = [
  { name: 'console-now', screen: 'now', height: 900 },
  { name: 'console-job', screen: 'jobs/<settled>', height: 900 },
  { name: 'console-parked', screen: 'parked', height: 940 },
];

async function takeConsole(browser: Browser): Promise<void> {
  const shown = await startShownRelay({ operator: 'anna' });
  const { settled } = await seed(shown);
  const { origin } = new URL(shown.url);
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({
      colorScheme,
      deviceScaleFactor: 1.5,
      locale: 'en-GB',
      timezoneId: 'Europe/Berlin',
      reducedMotion: 'reduce',
    });
    const page = await context.newPage();
    await page.clock.setFixedTime(shown.relay.clock.now);
    await page.goto(shown.url);
    await page.getByText('Live', { exact: true }).waitFor();
    for (const { name, screen, height } of SCREENS) {
      await page.setViewportSize({ width: 1180, height });
      await page.goto(`${origin}/#/${screen.replace('<settled>', settled)}`);
      await page.locator('main .card').first().waitFor();
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      await page.evaluate('document.activeElement?.blur()');
      await save(page, colorScheme === 'light' ? name : `${name}-dark`);
    }
    await context.close();
  }
  await shown.close();
}

async function takeTerminal(browser: Browser): Promise<void> {
  const story = withoutChance(await storyOfStart());
  await takeDrawing(browser, 'terminal', 1080, terminalPage([{ typed: 'npm start', printed: story }]));
}

async function takeSlack(browser: Browser): Promise<void> {
  const tasks = [
    { id: 't1', name: 'Login with passkeys' },
    { id: 't2', name: 'Order history' },
  ];
  const date = '2026-11-20';
  const form = logTimeModal({ connection: 'main', on: tasks, date, duration: '2h30m' });
  const reminder = reminderMessage({
    connection: 'main',
    date,
    tasks,
    at: NOW,
    balances: {
      days: { [date]: { expected: 480, logged: 330, missing: 150 } },
      sum: { expected: 2_400, logged: 2_250, missing: 150 },
    },
  });
  await takeDrawing(browser, 'slack-form', 568, formPage(form));
  await takeDrawing(browser, 'slack-reminder', 568, messagePage(reminder.blocks, '17:00'));
}

async function takeDrawing(browser: Browser, name: string, width: number, html: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width, height: 100 }, deviceScaleFactor: 1.5 });
  await page.setContent(html);
  const height = (await page.evaluate('document.documentElement.scrollHeight')) as number;
  await page.setViewportSize({ width, height });
  await save(page, name);
  await page.close();
}

/** As WebP, which Playwright cannot write. */
async function save(page: Page, name: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  const picture = Buffer.from(data, 'base64');
  await writeFile(join(FOLDER, `${name}.webp`), picture);
  console.log(`${name}.webp: ${Math.round(picture.length / 1000)} KB`);
}

await mkdir(FOLDER, { recursive: true });
const browser = await launchChromium();
try {
  await takeConsole(browser);
  await takeTerminal(browser);
  await takeSlack(browser);
} finally {
  await browser.close();
}
