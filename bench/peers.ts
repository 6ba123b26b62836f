import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const folder = fileURLToPath(new URL('peers/', import.meta.url));

/** Installs the peers, if they are missing. They are not in the project's lock file, to keep it small. */
export async function installPeers(): Promise<void> {
  // npm writes this file last, so an interrupted installation is repeated.
  const installed = statSync(`${folder}node_modules/.package-lock.json`, { throwIfNoEntry: false });
  if (installed && installed.mtimeMs > statSync(`${folder}package-lock.json`).mtimeMs) return;
  console.log('  installing the peers in bench/peers …');
  const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  await promisify(execFile)('npm', ['ci', ...quietly], { cwd: folder, shell: process.platform === 'win32' });
}
