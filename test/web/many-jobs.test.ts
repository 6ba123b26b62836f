import { afterAll, beforeAll, expect, it } from 'vitest';
import { storeManyJobs } from '../console/many-jobs.ts';
import { inBrowser, openConsole } from './console-page.ts';
import { type ShownRelay, startShownRelay } from './shown-relay.ts';

const MANY = 10_000;

inBrowser('10,000 jobs', () => {
  let shown: ShownRelay;
  beforeAll(async () => {
    shown = await startShownRelay();
    await storeManyJobs(shown.relay, MANY);
  });
  afterAll(() => shown?.close());

  const open = (screen: string) => openConsole(`${shown.url}&/${screen}`, { time: 'real' });

  it('need only one page for the list', async () => {
    const { page, requests } = await open('jobs');
    await page.getByText('50 jobs shown').waitFor();
    expect(await page.locator('tbody tr').count()).toBe(50);
    expect(requests.toSorted()).toEqual(['GET /api/changes', 'GET /api/jobs', 'GET /api/now', 'GET /api/relay']);
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByText('100 jobs shown').waitFor();
    expect(await page.locator('tbody tr').count()).toBe(100);
  });

  it('a rare match is searched for a few pages at a time', async () => {
    const { page, requests } = await open(`jobs?text=${encodeURIComponent('acme/web#302 opened')}&status=succeeded`);
    await page.getByRole('button', { name: 'Search more' }).waitFor();
    const listed = () => requests.filter((request) => request === 'GET /api/jobs').length;
    expect(listed()).toBe(8);
    await page.getByText('0 jobs shown, of 8,000 searched').waitFor();
    // A change is counted, and costs no search.
    shown.tell('issue-to-defect-00000000000000000001');
    await page.getByText('1 job changed since. Show the newest').waitFor();
    expect(listed()).toBe(8);
    await page.getByRole('button', { name: 'Search more' }).click();
    await page.getByText('1 job shown').waitFor();
    expect(listed()).toBe(9);
  });

  it('a view is shared by its address, with every filter', async () => {
    const { page } = await open('jobs?text=Issue+9999&automation=issue-to-defect');
    await page.getByText('acme/web#9999 opened').waitFor();
    expect(await page.getByLabel('Automation').inputValue()).toBe('issue-to-defect');
    await page.getByRole('searchbox', { name: 'Person' }).fill('octocat');
    await page.waitForURL(/person=octocat/);
    await page.getByRole('link', { name: 'Clear all filters' }).click();
    await page.getByText('50 jobs shown').waitFor();
    expect(new URL(page.url()).hash).toBe('#/jobs');
  });
});
