import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isWithoutBrowser, launchChromium } from '../chromium.ts';
import { consoleOf, TOKEN } from '../console/console-of.ts';
import { issueEvent } from '../issue-events.ts';
import { startRelay } from '../relay.ts';
import { openConsole } from './console-page.ts';

const HOUR = 3_600_000;

describe.skipIf(isWithoutBrowser)('with a relay', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  async function start(options: Parameters<typeof consoleOf>[1] = {}) {
    const relay = await startRelay();
    onTestFinished(() => relay.close());
    const console_ = await consoleOf(relay, options);
    onTestFinished(() => console_.close());
    let told = 0;
    return {
      relay,
      /** Lets the relay work, and tells the console what it logged. */
      work: async () => {
        await relay.workToTheEnd();
        for (const line of relay.log.slice(told)) console_.saw(line);
        told = relay.log.length;
      },
      open: async () => {
        const address = `${console_.url}/#token=${encodeURIComponent(TOKEN)}`;
        const opened = await openConsole(browser, address, { time: relay.clock.now });
        onTestFinished(opened.close);
        return opened;
      },
    };
  }

  it('an operator reads what is known of an unknown outcome, looks into the service, and decides', async () => {
    const { relay, work, open } = await start();
    // The defect is made, but no answer arrives, and it cannot be searched for.
    relay.sandbox.setFault({ kind: 'cut', when: 'after work', operation: '/defects/create' });
    relay.sandbox.setFault({ kind: 'cut', when: 'on arrival', operation: '/defects/list' });
    await relay.post('issues', issueEvent('opened', { id: 1 }));
    await work();
    relay.sandbox.clearFaults();
    relay.clock.now += HOUR;
    const { page, complaints } = await open();

    await page
      .getByRole('link', { name: /^Parked/ })
      .first()
      .click();
    const group = page.locator('.group');
    await group.getByText('Outcome unknown').first().waitFor();
    await group.getByText('Answer lost').first().waitFor();
    await group.getByText('The same signed bytes again').first().waitFor();
    const marker = await group.locator('.marker').innerText();
    const made = () => relay.sandbox.data.defects.filter(({ description }) => String(description).includes(marker));
    const id = String(made()[0]?.defect_id);
    const will = group.locator('.consequences');
    expect(await will.innerText()).toContain('creates nothing');

    await group.getByRole('button', { name: 'It exists…' }).click();
    const question = page.getByRole('dialog');
    // The service says that this one does not exist.
    await question.getByLabel('Id in the service').fill('6f1c2d7e-0000-4000-8000-000000000000');
    await question.getByRole('button', { name: 'Continue with this id' }).click();
    await question.getByRole('alert').waitFor();
    await question.getByLabel('Id in the service').fill(id);
    await question.getByRole('button', { name: 'Continue with this id' }).click();
    await question.waitFor({ state: 'detached' });
    await work();
    await page.getByText('No job waits for a decision.').waitFor();

    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await page.getByRole('link', { name: /opened: Spelling error/ }).click();
    await page.locator('.decisions').filter({ hasText: 'resolved: done' }).getByText(id).waitFor();
    await page.locator('.outcome').getByText('Succeeded', { exact: true }).waitFor();
    expect(made()).toHaveLength(1);
    expect(complaints).toEqual([]);
  });

  it('parked jobs are discarded with a reason, which stays in their history', async () => {
    const { relay, work, open } = await start();
    relay.sandbox.setFault({ kind: 'maintenance', status: 422, operation: '/defects/create', times: 2 });
    for (const id of [1, 2]) await relay.post('issues', issueEvent('opened', { id }));
    await work();
    const { page, go } = await open();
    await go('parked');
    await page.getByLabel('Select all').check();
    await page.getByRole('button', { name: 'Discard (2)…' }).click();
    const question = page.getByRole('dialog', { name: 'Discard 2 jobs?' });
    await question.getByLabel('Reason').fill('they were only tests');
    await question.getByRole('button', { name: 'Discard 2 jobs' }).click();
    await page.getByText('2 jobs changed.').waitFor();
    await work();
    await go('jobs');
    await page.getByText('Discarded').nth(1).waitFor();
    await page.locator('[data-item]').first().click();
    await page.getByText('they were only tests').first().waitFor();
  });

  it('every screen shows that the stage is stopped, and the first one how to start it', async () => {
    const words = 'The stage prod is stopped: relay --stage prod start starts it.';
    const { open } = await start({ name: 'prod', stopped: async () => words });
    const { page, go } = await open();
    await page.getByText(words).waitFor();
    await go('jobs');
    await page.getByRole('banner').getByText('prod (stopped)').waitFor();
  });
});
