import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { writeOwnFile } from '../local/own-file.ts';
import { STATE_FOLDER } from '../local/state.ts';
import { inMarkup } from './markup.ts';

/** The command that opens a file in the browser. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/**
 * Opens a secret address of this machine. All users of a machine can read the arguments of its processes. So the
 * browser gets a file that only its owner can read, and that leads to the address.
 *
 * @param failed is called if there is no browser
 */
export function openBrowser(url: string, failed: () => void): void {
  const file = join(STATE_FOLDER, `open-${new URL(url).port}.html`);
  const target = inMarkup(url);
  const head = `<meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url=${target}">`;
  writeOwnFile(
    file,
    `<!doctype html><html lang="en">${head}<title>Partner Relay</title><a href="${target}">Go on</a></html>\n`,
  );
  const [command, ...options] = OPENERS[process.platform] ?? ['xdg-open'];
  spawn(command, [...options, resolve(file)], { stdio: 'ignore', detached: true })
    .once('error', failed)
    .unref();
}
