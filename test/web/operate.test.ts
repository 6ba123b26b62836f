import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isWithoutBrowser, launchChromium } from '../chromium.ts';
import { expectAccessible, expectNoOverflow, NARROW, openConsole } from './console-page.ts';
import { settledJob } from './fixture/sample-jobs.ts';
import { type FixtureOptions, startFixture, WRONG_ID } from './fixture/server.ts';

describe.skipIf(isWithoutBrowser)('what an operator does', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  async function open(screen: string, options: FixtureOptions = {}) {
    const fixture = await startFixture(options);
    onTestFinished(() => fixture.close());
    const opened = await openConsole(browser, fixture.url);
    onTestFinished(opened.close);
    await opened.go(screen);
    return { ...opened, fixture, sent: () => fixture.changes.map(({ body }) => body) };
  }

  it('a stopped connection is resumed where it says why it is stopped', async () => {
    const { page, sent } = await open('now');
    await page.getByRole('region', { name: 'main' }).getByRole('button', { name: 'Resume…' }).click();
    expect(sent()).toEqual([]);
    const question = page.getByRole('dialog', { name: 'Resume main?' });
    await expectAccessible(page);
    await question.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('Done: resume.').waitFor();
    expect(sent()).toEqual([{ do: 'resume', connection: 'main' }]);
    expect(await page.getByRole('region', { name: 'agency' }).getByRole('button').count()).toBe(0);
  });

  it('a schedule is run as of a time, and its result and its jobs are shown', async () => {
    const { page, sent } = await open('now');
    const schedules = page.getByRole('region', { name: 'Schedules' });
    await schedules.getByRole('row').filter({ hasText: 'due-schedules' }).getByRole('button').click();
    await page.getByLabel('As of').fill('2026-11-20T16:30');
    await page.getByRole('dialog').getByRole('button', { name: 'Run' }).click();
    await schedules.getByText('reminded').waitFor();
    const at = Date.parse('2026-11-20T16:30+01:00');
    expect(sent()).toEqual([{ do: 'run schedule', schedule: 'due-schedules', at }]);
    await page.getByRole('link', { name: 'Open the job' }).click();
    await page.waitForURL(`**/#/jobs/${settledJob.id}`);
  });

  it('the link of an issue is set, cleared and moved, and a refusal leaves the question open', async () => {
    const { page, sent, fixture } = await open('links');
    const row = page.getByRole('row').filter({ hasText: 'acme/web#57' });
    const change = row.getByRole('button', { name: 'Change…' });
    const question = page.getByRole('dialog', { name: 'Change the link of acme/web#57' });
    const confirm = question.getByRole('button', { name: 'Change', exact: true });
    await change.click();
    await expectAccessible(page);
    await question.getByLabel('Id of the defect').fill(WRONG_ID);
    await confirm.click();
    await question.getByRole('alert').getByText('there is no such defect').waitFor();
    await question.getByLabel('Id of the defect').fill('b542cd7c');
    await question.getByLabel('Even if the relay made it for another issue or job').check();
    await confirm.click();
    await change.click();
    await question.getByLabel('It has no defect').check();
    await confirm.click();
    await question.waitFor({ state: 'detached' });
    // The list shows the result of each change.
    const lists = () => fixture.requests.filter((request) => request.startsWith('GET /api/links')).length;
    await expect.poll(lists).toBeGreaterThanOrEqual(2);
    const issue = 'acme/web#57';
    expect(sent().slice(1)).toEqual([
      { do: 'set link', issue, defectId: 'b542cd7c', steal: true },
      { do: 'clear link', issue },
    ]);
  });

  it('an issue that is not in the list gets a link, too', async () => {
    const { page, sent } = await open('links');
    await page.getByRole('button', { name: 'Change another link…' }).click();
    const question = page.getByRole('dialog', { name: 'Change the link of an issue' });
    await question.getByLabel('Issue').first().fill('acme/web#99');
    await question.getByLabel('Id of the defect').fill('b542cd7c');
    await question.getByRole('button', { name: 'Change another link' }).click();
    await question.waitFor({ state: 'detached' });
    expect(sent()).toEqual([{ do: 'set link', issue: 'acme/web#99', defectId: 'b542cd7c', steal: false }]);
  });

  it('ignored events are read when they are asked for, with their reasons', async () => {
    const { page, fixture } = await open('jobs');
    expect(fixture.requests).not.toContain('GET /api/ignored');
    await page.getByText('Ignored events, and why').click();
    await page.getByText('a new issue without the label bug').waitFor();
    await page.getByText('72d3162e-cc78-11e3-81ab-4c9367dc0958').waitFor();
  });

  it('the questions fit a phone', async () => {
    const { page, go } = await open('links');
    await page.setViewportSize(NARROW);
    await page.getByRole('button', { name: 'Change…' }).first().click();
    await expectNoOverflow(page);
    await page.keyboard.press('Escape');
    await go('now');
    await page.getByRole('button', { name: 'Resume…' }).first().click();
    await expectNoOverflow(page);
  });
});
