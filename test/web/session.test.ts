import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { keys } from '../../lib/state/table/keys.ts';
import { storeManyJobs } from '../console/many-jobs.ts';
import { expectAccessible, expectNoOverflow, inBrowser, NARROW, openConsole } from './console-page.ts';
import { type ShownRelay, startShownRelay } from './shown-relay.ts';

inBrowser('the page and its server', () => {
  let shown: ShownRelay;
  let origin: string;
  beforeEach(async () => {
    shown = await startShownRelay();
    ({ origin } = new URL(shown.url));
    onTestFinished(() => shown.close());
  });

  const open = (url = shown.url, time: number | 'real' = 'real') => openConsole(url, { time });

  /** Opens the list of jobs, which has the only job. */
  async function openList() {
    await shown.opened(1);
    const opened = await open();
    await opened.go('jobs');
    await opened.page.getByText('1 job shown').waitFor();
    await opened.page.getByText('Live', { exact: true }).waitFor();
    return opened;
  }

  it('the token leaves the address at once, and stays for a reload and for a new tab', async () => {
    const { page } = await open();
    await page.getByText('Live', { exact: true }).waitFor();
    expect(page.url()).not.toContain('token');
    await page.reload();
    await page.getByRole('heading', { name: 'Now' }).waitFor();
    const tab = await page.context().newPage();
    await tab.goto(page.url().replace(/#.*/, '#/parked'));
    await tab.getByRole('heading', { name: 'Parked' }).waitFor();
  });

  it('a page without a token or with a wrong one says which address to open, and fits a phone', async () => {
    const { page } = await open(`${origin}/`);
    await page.setViewportSize(NARROW);
    for (const [hash, heading] of [
      ['', 'Open the address that the relay printed'],
      ['#token=wrong', 'The token is not accepted'],
    ]) {
      await page.goto(`${origin}/${hash}`);
      await page.getByRole('heading', { name: heading }).waitFor();
      await page.getByText('npx partner-relay console --open').waitFor();
      await expectAccessible(page);
      await expectNoOverflow(page);
    }
    // The right address differs only in its fragment, so it opens in the same page.
    await page.goto(shown.url);
    await page.getByRole('heading', { name: 'Now' }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
  });

  it('an address that cannot be decoded is a wrong token, and text behind a second ? is kept', async () => {
    const { page } = await open(`${origin}/#token=%`);
    await page.getByRole('heading', { name: 'The token is not accepted' }).waitFor();
    await page.goto(`${shown.url}&/jobs?text=why%3F?no`);
    await expect.poll(() => page.getByLabel('Filter jobs by text').inputValue()).toBe('why??no');
  });

  it('a silent stream is opened again', async () => {
    const { page, requests } = await open(shown.url, shown.relay.clock.now);
    await page.getByText('Live', { exact: true }).waitFor();
    const opened = () => requests.filter((request) => request === 'GET /api/changes').length;
    expect(opened()).toBe(1);
    await page.clock.fastForward(30_000);
    requests.length = 0;
    shown.tell('a job');
    await expect.poll(() => requests).toContain('GET /api/now');
    await page.clock.fastForward(30_000);
    expect(opened()).toBe(0);
    await page.clock.fastForward(30_000);
    await page.clock.runFor(1_000);
    await expect.poll(opened).toBe(1);
  });

  it('a list requests each of its pages once, however often and fast a person asks for more', async () => {
    await storeManyJobs(shown.relay, 60);
    const { page, go } = await open();
    await page.route('**/api/jobs?cursor=*', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      await route.continue();
    });
    await go('jobs');
    await page.getByRole('button', { name: 'Show more' }).dblclick();
    await page.getByText('60 jobs shown').waitFor();
    expect(await page.locator('tbody tr').count()).toBe(60);
  });

  it('a job that changes while more jobs are read is shown in its new state', async () => {
    const [newest = expect.fail('there is no job')] = (await storeManyJobs(shown.relay, 60)).reverse();
    const { page, go } = await open();
    const isAsked = Promise.withResolvers<void>();
    await page.route('**/api/jobs?cursor=*', async (route) => {
      isAsked.resolve();
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      await route.continue();
    });
    await go('jobs');
    await page.getByRole('button', { name: 'Show more' }).click();
    await isAsked.promise;
    const change = { expression: 'SET #summary = :value', values: { value: 'it has changed' } };
    await shown.relay.stores.table.update(keys.job(newest.id), change);
    shown.tell(newest.id);
    await page.getByText('60 jobs shown').waitFor();
    await page.getByText('it has changed').waitFor({ timeout: 5_000 });
  });

  it('an open page continues when the relay answers again', async () => {
    const { page } = await openList();
    await shown.restart(async () => {
      await page.getByText('No connection. Trying again…').waitFor();
      await shown.opened(2);
    });
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByText('2 jobs shown').waitFor();
  });

  it('a failed reading is explained in words, and can be tried again', async () => {
    const { page, go } = await open();
    await go('jobs/no-such-job');
    await page.getByRole('heading', { name: 'No such job' }).waitFor();
    await page.getByRole('alert').getByText('There is no job no-such-job').waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    await shown.restart(async () => {
      await page.getByRole('link', { name: 'Links' }).click();
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('alert').getByText('The relay does not answer. Is it still running?').waitFor();
    });
  });

  it('a change is on the screen without a reload', async () => {
    const { page } = await openList();
    const id = await shown.opened(2);
    shown.tell(id);
    await page.getByText('acme/web#2 opened').waitFor();
    shown.relay.sandbox.setFault({ kind: 'maintenance', status: 422, operation: '/defects/create' });
    await shown.relay.workToTheEnd();
    shown.tell(id);
    await page.getByText('refused with status 422').first().waitFor();
    await page.getByRole('link', { name: 'Parked 2 jobs' }).waitFor();
  });

  it('the stream of changes is closed while the page is hidden', async () => {
    const { page, streams } = await openList();
    const look = (hidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`,
      );
    await look(true);
    await page.getByText('Paused', { exact: true }).waitFor();
    await expect.poll(streams).toBe(0);
    await shown.opened(2);
    await look(false);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByText('2 jobs shown').waitFor();
  });

  it('a hundred changes at once cause few requests', async () => {
    const { page, requests } = await openList();
    const before = requests.length;
    await shown.opened(2);
    shown.tell(...Array.from({ length: 100 }, (_, change) => `job-${change}`));
    await page.getByText('2 jobs shown').waitFor();
    expect(requests.length - before).toBeLessThan(10);
  });
});
