import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isWithoutBrowser, launchChromium } from '../chromium.ts';
import { openConsole } from './console-page.ts';
import { numberedJob } from './fixture/sample-jobs.ts';
import { type Fixture, startFixture } from './fixture/server.ts';

const MANY = 10_000;

/** Keeps when the page was first drawn, and when the first row was. */
const MEASURE = `new MutationObserver((_, observer) => {
  if (!document.querySelector('tbody tr')) return;
  observer.disconnect();
  requestAnimationFrame(() => { window.rowsAfterMs = Math.round(performance.now()); });
}).observe(document, { childList: true, subtree: true })`;

describe.skipIf(isWithoutBrowser)('10,000 jobs', () => {
  let browser: Browser;
  let fixture: Fixture;
  beforeAll(async () => {
    browser = await launchChromium();
    fixture = await startFixture({ jobs: Array.from({ length: MANY }, (_, index) => numberedJob(MANY - index)) });
  });
  afterAll(async () => {
    await browser?.close();
    await fixture?.close();
  });

  async function open(screen: string) {
    fixture.requests.length = 0;
    const opened = await openConsole(browser, `${fixture.url}&/${screen}`, { time: 'real' });
    onTestFinished(opened.close);
    return opened;
  }

  it('the list reads one page of them', async () => {
    const { page, go } = await open('now');
    await go('now');
    await page.addInitScript(MEASURE);
    await page.goto('about:blank');
    fixture.requests.length = 0;
    await page.goto(`${fixture.url}&/jobs`);
    await page.getByText('50 jobs shown').waitFor();
    expect(await page.locator('tbody tr').count()).toBe(50);
    expect(fixture.requests.toSorted()).toEqual([
      'GET /api/changes',
      'GET /api/jobs',
      'GET /api/now',
      'GET /api/relay',
    ]);
    const measured = await page.evaluate(
      '({ drawn: performance.getEntriesByName("first-contentful-paint")[0]?.startTime, rows: window.rowsAfterMs })',
    );
    console.log(`The list of 10,000 jobs, in ms: ${JSON.stringify(measured)}`);
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByText('100 jobs shown').waitFor();
    expect(await page.locator('tbody tr').count()).toBe(100);
  });

  it('a rare match is searched for a few pages at a time', async () => {
    const { page } = await open(`jobs?text=${encodeURIComponent('Report 17')}&status=succeeded`);
    await page.getByRole('button', { name: 'Search on' }).waitFor();
    const listed = () => fixture.requests.filter((request) => request === 'GET /api/jobs').length;
    expect(listed()).toBe(8);
    await page.getByText('0 jobs shown, of 400 searched').waitFor();
    await page.getByRole('button', { name: 'Search on' }).click();
    await page.getByText('of 800 searched').waitFor();
    expect(listed()).toBe(16);
    // A change is counted, and costs no search.
    fixture.tell({ jobs: [numberedJob(1).id] });
    await page.getByText('1 job changed since. Show the newest').waitFor();
    expect(listed()).toBe(16);
  });

  it('a view is shared by its address, with every filter', async () => {
    const { page } = await open('jobs?text=Report+9999&automation=issue-to-defect');
    await page.getByText('acme/web#9999 opened').waitFor();
    expect(await page.getByLabel('Automation').inputValue()).toBe('issue-to-defect');
    await page.getByLabel('Person').fill('octocat');
    await page.waitForURL(/person=octocat/);
    await page.getByRole('link', { name: 'Clear all filters' }).click();
    await page.getByText('50 jobs shown').waitFor();
    expect(new URL(page.url()).hash).toBe('#/jobs');
  });
});
