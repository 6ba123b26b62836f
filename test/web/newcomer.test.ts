import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isWithoutBrowser, launchChromium } from '../chromium.ts';
import { openConsole } from './console-page.ts';

const root = join(import.meta.dirname, '../..');

/** `npm start` in a folder, on a port. @returns the address of the console that it printed */
async function start(folder: string, port: number): Promise<{ address: string; stop: () => Promise<void> }> {
  const relay = spawn(process.execPath, [join(root, 'cli/start.ts')], {
    cwd: folder,
    env: { ...process.env, PORT: String(port) },
  });
  const address = await printed(relay, /http:\/\/127\.0\.0\.1:\d+\/#token=\S+/);
  return {
    address,
    stop: async () => {
      if (relay.exitCode !== null) return;
      relay.kill('SIGTERM');
      await once(relay, 'exit');
    },
  };
}

function printed(relay: ChildProcess, text: RegExp): Promise<string> {
  let output = '';
  return new Promise((resolve, reject) => {
    for (const stream of [relay.stdout, relay.stderr]) {
      stream?.on('data', (chunk) => {
        output += chunk;
        const [found] = text.exec(output) ?? [];
        if (found !== undefined) resolve(found);
      });
    }
    relay.once('exit', () => reject(new Error(`the relay ended:\n${output}`)));
  });
}

const LOST = 'The answer of the next creation is lost, although the defect is made';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

describe.skipIf(isWithoutBrowser)('a newcomer', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  it('starts the relay, opens the address, and sees what their events become', { timeout: 180_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'partner-relay-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
    const port = await freePort();
    const first = await start(folder, port);
    onTestFinished(() => first.stop());
    const { page, complaints, close } = await openConsole(browser, first.address, { time: 'real' });
    onTestFinished(close);
    await page.getByText('Live', { exact: true }).waitFor();

    // The command line, as in the README.
    await promisify(execFile)(process.execPath, [join(root, 'cli/relay.ts'), 'send', 'issues'], { cwd: folder });
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    const row = page.getByRole('row').filter({ hasText: 'opened: Spelling error in the README file' });
    await row.getByText('Succeeded').waitFor();
    await row.getByRole('link').click();
    await page.getByRole('heading', { name: 'Where the time went' }).waitFor();
    const step = page.locator('.steps > li').filter({ hasText: 'create-defect' });
    await step.getByText('Accepted').waitFor();
    await step.getByText('201').waitFor();

    // The lost answer of the README, without a command.
    await page.getByRole('link', { name: 'Try' }).click();
    await page.getByLabel('What to break').selectOption({ label: LOST });
    await page.getByRole('button', { name: 'Break it' }).click();
    await page.getByRole('list', { name: 'What is broken now' }).waitFor();
    await page.getByRole('button', { name: 'Send the event' }).click();
    await page.getByText('took it').waitFor();
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await row.nth(1).getByText('Succeeded').waitFor();
    await row.first().getByRole('link').click();
    await step.getByText('Answer lost').waitFor();
    await step.getByText('The same signed bytes again').waitFor();
    await step.getByText('Settled').waitFor();

    // A command in Slack.
    await page.getByRole('link', { name: 'Try' }).click();
    await page.getByLabel('Command as from Slack').fill('/pm find login');
    await page.getByRole('button', { name: 'Send the command' }).click();
    await page.getByRole('region', { name: 'Messages in Slack' }).getByText('Login with passkeys').first().waitFor();

    await first.stop();
    await page.getByText('No connection. Trying again…').waitFor();
    const second = await start(folder, port);
    onTestFinished(() => second.stop());
    // The token of the first start opens nothing any more.
    expect(second.address).not.toBe(first.address);
    await page.getByText('the relay has a new one each time it starts').waitFor();
    await page.goto(second.address);
    await page.getByText('Live', { exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });
});
