import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { startChild } from '../child.ts';
import { newFolder } from '../new-folder.ts';
import { inBrowser, openConsole } from './console-page.ts';

const root = join(import.meta.dirname, '../..');

/** Runs `npm start` in a folder, on a port. @returns the printed address of the console */
async function start(folder: string, port: string): Promise<{ address: string; stop: () => Promise<void> }> {
  const relay = startChild([join(root, 'cli/bin.js'), 'start'], folder, {
    PORT: port,
    RELAY_CONFIG: join(root, 'relay.config.ts'),
  });
  const [address = ''] = await relay.printed(/http:\/\/127\.0\.0\.1:\d+\/#token=\S+/);
  const stop = async () => {
    relay.process.kill();
    await relay.ended();
  };
  onTestFinished(stop);
  return { address, stop };
}

const LOST = 'The answer to the next new defect is lost';

inBrowser('a newcomer', () => {
  it('starts the relay, opens the address, and sees the results of their events', { timeout: 180_000 }, async () => {
    const folder = newFolder();
    const first = await start(folder, '0');
    const { page, complaints } = await openConsole(first.address, { time: 'real' });
    await page.getByText('Live', { exact: true }).waitFor();

    // The README's command.
    await promisify(execFile)(process.execPath, [join(root, 'cli/bin.js'), 'send', 'issues'], { cwd: folder });
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    const row = page.getByRole('row').filter({ hasText: 'opened: Spelling error in the README file' });
    await row.getByText('Succeeded').waitFor();
    await row.getByRole('link').click();
    await page.getByRole('heading', { name: 'Where the time went' }).waitFor();
    const step = page.locator('.steps > li').filter({ hasText: 'create-defect' });
    await step.getByText('Accepted').waitFor();
    await step.getByText('201', { exact: true }).waitFor();

    // The README's lost answer, without the command line.
    await page.getByRole('link', { name: 'Try' }).click();
    await page.getByLabel('What to break').selectOption({ label: LOST });
    await page.getByRole('button', { name: 'Break it' }).click();
    await page.getByRole('list', { name: 'What is broken now' }).waitFor();
    await page.getByRole('button', { name: 'Send the event' }).click();
    await page.getByText('Sent: 1 job.').waitFor();
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await row.nth(1).getByText('Succeeded').waitFor();
    await row.first().getByRole('link').click();
    await step.getByText('Answer lost').waitFor();
    await step.getByText('The same request again').waitFor();
    await step.getByText('Settled').waitFor();

    // A command in Slack.
    await page.getByRole('link', { name: 'Try' }).click();
    await page.getByLabel('Slack command').fill('/pm find login');
    await page.getByRole('button', { name: 'Send the command' }).click();
    await page.getByRole('region', { name: 'Messages in Slack' }).getByText('Login with passkeys').first().waitFor();

    await first.stop();
    await page.getByText('No connection. Trying again…').waitFor();
    const second = await start(folder, new URL(first.address).port);
    // The token of the first start is no longer valid.
    expect(second.address).not.toBe(first.address);
    await page.getByText('from an earlier start of the relay').waitFor();
    await page.goto(second.address);
    await page.getByText('Live', { exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });
});
