import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isWithoutBrowser, launchChromium } from '../chromium.ts';
import { openConsole } from './console-page.ts';
import { numberedJob, sampleJobs, unknownJob } from './fixture/sample-jobs.ts';
import { type Fixture, type FixtureOptions, startFixture } from './fixture/server.ts';

describe.skipIf(isWithoutBrowser)('the page and its server', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  async function start(options: FixtureOptions = {}): Promise<Fixture> {
    const fixture = await startFixture(options);
    onTestFinished(() => fixture.close());
    return fixture;
  }

  async function open(url: string) {
    const opened = await openConsole(browser, url, { time: 'real' });
    onTestFinished(opened.close);
    return opened;
  }

  it('the token leaves the address at once, and stays for a reload and for a new tab', async () => {
    const { url } = await start();
    const { page } = await open(url);
    await page.getByText('Live', { exact: true }).waitFor();
    expect(page.url()).not.toContain('token');
    await page.reload();
    await page.getByRole('heading', { name: 'Now' }).waitFor();
    const tab = await page.context().newPage();
    await tab.goto(page.url().replace(/#.*/, '#/parked'));
    await tab.getByRole('heading', { name: 'Parked' }).waitFor();
  });

  it('a page without a token or with a wrong one says which address to open', async () => {
    const { url, port } = await start();
    const { page } = await open(`http://127.0.0.1:${port}/`);
    await page.getByRole('heading', { name: 'Open the address that the relay printed' }).waitFor();
    await page.goto(`http://127.0.0.1:${port}/#token=wrong`);
    await page.getByRole('heading', { name: 'The token is not accepted' }).waitFor();
    // The same page takes the right address, which differs in its fragment only.
    await page.goto(url);
    await page.getByRole('heading', { name: 'Now' }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
  });

  it('an address that cannot be decoded is a wrong token, and text behind a second ? is kept', async () => {
    const fixture = await start();
    const { page } = await open(`http://127.0.0.1:${fixture.port}/#token=%`);
    await page.getByRole('heading', { name: 'The token is not accepted' }).waitFor();
    await page.goto(`${fixture.url}&/jobs?text=why%3F?no`);
    await expect.poll(() => page.getByLabel('Filter jobs by text').inputValue()).toBe('why??no');
  });

  it('a stream that says nothing any more is opened again', async () => {
    const fixture = await start();
    const { page, close } = await openConsole(browser, fixture.url);
    onTestFinished(close);
    await page.getByText('Live', { exact: true }).waitFor();
    const opened = () => fixture.requests.filter((request) => request === 'GET /api/changes').length;
    expect(opened()).toBe(1);
    await page.clock.fastForward(30_000);
    fixture.requests.length = 0;
    fixture.tell({ now: true });
    await expect.poll(() => fixture.requests).toContain('GET /api/now');
    await page.clock.fastForward(30_000);
    expect(opened()).toBe(0);
    await page.clock.fastForward(30_000);
    await page.clock.runFor(1_000);
    await expect.poll(opened).toBe(1);
  });

  it('a list takes each of its pages once, however often and fast more is asked for', async () => {
    const fixture = await start({ jobs: Array.from({ length: 60 }, (_, index) => numberedJob(60 - index)) });
    const { page, go } = await open(fixture.url);
    await page.route('**/api/jobs?cursor=*', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      await route.continue();
    });
    await go('jobs');
    await page.getByRole('button', { name: 'Show more' }).dblclick();
    await page.getByText('60 jobs shown').waitFor();
    expect(await page.locator('tbody tr').count()).toBe(60);
  });

  it('a job that changes while more is read is shown as it is now', async () => {
    const fixture = await start({ jobs: Array.from({ length: 60 }, (_, index) => numberedJob(60 - index)) });
    const { page, go } = await open(fixture.url);
    let asked = () => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    await page.route('**/api/jobs?cursor=*', async (route) => {
      asked();
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      await route.continue();
    });
    await go('jobs');
    await page.getByRole('button', { name: 'Show more' }).click();
    await isAsked;
    const [first] = fixture.jobs;
    if (!first) throw new Error('there is no job');
    fixture.jobs[0] = { ...first, summary: 'it has changed' };
    fixture.tell({ jobs: [first.id] });
    await page.getByText('60 jobs shown').waitFor();
    await page.getByText('it has changed').waitFor({ timeout: 5_000 });
  });

  it('an open page goes on when the relay answers again', async () => {
    const before = await startFixture();
    const { page, go } = await open(before.url);
    await go('jobs');
    await page.getByText(`${sampleJobs.length} jobs shown`).waitFor();
    await before.close();
    await page.getByText('No connection. Trying again…').waitFor();
    await start({ port: before.port, jobs: [numberedJob(1)] });
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByText('1 job shown').waitFor();
  });

  it('what cannot be read is said in words, and can be tried again', async () => {
    const fixture = await startFixture();
    const { page, go } = await open(fixture.url);
    await go('jobs/no-such-job');
    await page.getByRole('alert').getByText('there is nothing at /api/jobs/no-such-job').waitFor();
    await fixture.close();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('alert').getByText('The relay does not answer. Is it still running?').waitFor();
  });

  it('a change is on the screen without a reload', async () => {
    const fixture = await start({ jobs: [numberedJob(1)] });
    const { page, go } = await open(fixture.url);
    await go('jobs');
    await page.getByText('1 job shown').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    fixture.jobs.unshift(numberedJob(2));
    fixture.tell({ jobs: [numberedJob(2).id] });
    await page.getByText('acme/web#2 opened').waitFor();
    fixture.jobs[0] = { ...numberedJob(2), status: 'parked', news: 'the key was revoked' };
    fixture.tell({ jobs: [numberedJob(2).id] });
    fixture.tell({ now: true });
    await page.getByText('the key was revoked').waitFor();
    await page.getByRole('link', { name: 'Parked 1 job' }).waitFor();
  });

  it('the stream of changes is closed while nobody looks', async () => {
    const fixture = await start({ jobs: [numberedJob(1)] });
    const { page, go } = await open(fixture.url);
    await go('jobs');
    await page.getByText('1 job shown').waitFor();
    const look = (hidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`,
      );
    await look(true);
    await page.getByText('Paused', { exact: true }).waitFor();
    await expect.poll(fixture.streams).toBe(0);
    fixture.jobs.unshift(numberedJob(2));
    await look(false);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByText('2 jobs shown').waitFor();
  });

  it('times are local, with the zone and the milliseconds in the title', async () => {
    const { url } = await start();
    const { page, go } = await open(url);
    await go(`jobs/${unknownJob.id}`);
    const created = page.locator('.facts time').first();
    expect(await created.getAttribute('title')).toMatch(/13:53:55\.\d{3}.* \(Europe\/Berlin\)$/);
  });

  it('a hundred changes at once are few requests', async () => {
    const fixture = await start({ jobs: [numberedJob(1)] });
    const { page, go } = await open(fixture.url);
    await go('jobs');
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByText('1 job shown').waitFor();
    const before = fixture.requests.length;
    fixture.jobs.unshift(numberedJob(2));
    for (let change = 0; change < 100; change++) fixture.tell({ jobs: [numberedJob(change).id] });
    await page.getByText('2 jobs shown').waitFor();
    expect(fixture.requests.length - before).toBeLessThan(10);
  });

  it('a read-only console has no way to change anything, and says why', async () => {
    const fixture = await start({ facts: { operate: false } });
    const { page, go } = await open(fixture.url);
    const actions = [
      ...['Replay', 'Discard…', 'It exists…', 'Create it again', 'Search once more', 'Resume…', 'Run…', 'Change…'],
    ];
    for (const screen of [`jobs/${unknownJob.id}`, 'parked', 'now', 'links', 'try']) {
      await go(screen);
      await page.locator('.card').first().waitFor();
      if (!['now', 'links'].includes(screen)) await page.getByText('This console is read-only.').first().waitFor();
      for (const name of actions) expect(await page.getByRole('button', { name }).count()).toBe(0);
      for (const name of ['Send the event', 'Send the command', 'Break it', 'Take it back', 'Log the rest', 'Log']) {
        for (const button of await page.getByRole('button', { name, exact: true }).all()) {
          expect(await button.isDisabled()).toBe(true);
        }
      }
    }
    expect(fixture.changes).toEqual([]);
  });
});
