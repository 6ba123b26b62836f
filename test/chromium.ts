import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
const executablePath = PLACES.find((path) => existsSync(path));

/** Whether tests in a browser are skipped: there is no browser, and `RELAY_BROWSER=required` is not set. */
export const isWithoutBrowser = executablePath === undefined && process.env.RELAY_BROWSER !== 'required';

/**
 * Starts this machine's Chromium or Chrome, without a window. It downloads nothing, and the caller closes it.
 *
 * @throws {Error} if there is no browser, with the command that installs it
 */
export async function launchChromium(): Promise<Browser> {
  if (executablePath === undefined) {
    throw new Error(
      `There is no browser at ${PLACES.join(', ')}. Install one: apt-get install --no-install-recommends chromium`,
    );
  }
  return chromium.launch({ executablePath });
}
