import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core';
import { afterAll, describe, expect, onTestFinished } from 'vitest';
import { isWithoutBrowser, launchChromium } from '../chromium.ts';

export const WIDE = { width: 1280, height: 800 };
export const NARROW = { width: 400, height: 800 };

/** Tests that need a browser. */
export const inBrowser = describe.skipIf(isWithoutBrowser);

/** The browser of a file's tests. */
let browser: Promise<Browser> | undefined;
afterAll(async () => (await browser)?.close());

export interface ConsolePage {
  page: Page;
  /** The page's problems: violations of its content policy, script errors, and requests to other servers. */
  complaints: string[];
  /** The pages' requests, in order: `GET /api/now`. */
  requests: string[];
  /** The changes that the pages sent. */
  changes: unknown[];
  /** The number of open streams of changes. */
  streams(): number;
  /** Goes to a screen, such as `jobs?status=parked`, in the open page. */
  go(screen: string): Promise<void>;
  close(): Promise<void>;
}

interface OpenOptions extends BrowserContextOptions {
  /** The page's time at the start. */
  time: number | 'real';
}

/** Opens the console until the test ends. */
export async function openConsole(url: string, options: OpenOptions): Promise<ConsolePage> {
  const opened = await openSession(url, options);
  onTestFinished(opened.close);
  return opened;
}

/** Opens the console in its own browser session. */
export async function openSession(url: string, { time, ...rest }: OpenOptions): Promise<ConsolePage> {
  browser ??= launchChromium();
  const usual = { viewport: WIDE, timezoneId: 'Europe/Berlin', locale: 'en-GB' };
  const context = await (await browser).newContext({ ...usual, ...rest });
  const page = await context.newPage();
  if (time !== 'real') await page.clock.install({ time });
  const complaints: string[] = [];
  const { origin } = new URL(url);
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    // Some tests are about refused connections.
    if (!/ERR_CONNECTION|Failed to load resource/.test(message.text())) complaints.push(message.text());
  });
  const requests: string[] = [];
  const changes: unknown[] = [];
  const streams = new Set<Request>();
  page.on('request', (request) => {
    const asked = new URL(request.url());
    if (asked.origin !== origin) complaints.push(`requested ${request.url()}`);
    if (asked.pathname.startsWith('/api/')) requests.push(`${request.method()} ${asked.pathname}`);
    if (asked.pathname === '/api/changes') streams.add(request);
    if (request.method() === 'POST') changes.push(request.postDataJSON());
  });
  page.on('requestfinished', (request) => void streams.delete(request));
  page.on('requestfailed', (request) => void streams.delete(request));
  await page.goto(url);
  return {
    page,
    complaints,
    requests,
    changes,
    streams: () => streams.size,
    go: async (screen) => {
      await page.goto(`${origin}/#/${screen}`);
      await page.locator('main h1').waitFor();
    },
    close: () => context.close(),
  };
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Finding {
  id: string;
  help: string;
  nodes: { target: string[]; failureSummary: string }[];
}

/** Expects that axe finds no problems in the page. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axe);
  const findings = (await page.evaluate(
    'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations)',
  )) as Finding[];
  const told = findings.map(({ id, help, nodes }) => ({
    id,
    help,
    where: nodes.slice(0, 4).map(({ target, failureSummary }) => `${target.join(' ')}: ${failureSummary}`),
  }));
  expect(told).toEqual([]);
}

/** Expects that no element is wider than the screen. */
export async function expectNoOverflow(page: Page): Promise<void> {
  const [content, screen] = (await page.evaluate('[document.documentElement.scrollWidth, innerWidth]')) as number[];
  expect(content).toBeLessThanOrEqual(screen ?? 0);
}
