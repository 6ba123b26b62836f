import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
const executablePath = PLACES.find((path) => existsSync(path));

/** Whether tests in a browser are skipped: there is none, and `RELAY_BROWSER=required` does not ask for one. */
export const isWithoutBrowser = executablePath === undefined && process.env.RELAY_BROWSER !== 'required';

/**
 * Starts the Chromium or Chrome of this machine, without a window. Nothing is downloaded. The caller closes it.
 *
 * @throws {Error} if there is none, with the command that installs it
 */
export async function launchChromium(): Promise<Browser> {
  if (executablePath === undefined) {
    throw new Error(
      `There is no browser at ${PLACES.join(', ')}. Install one: apt-get install --no-install-recommends chromium`,
    );
  }
  return chromium.launch({ executablePath });
}
