import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const folder = fileURLToPath(new URL('peers/', import.meta.url));

/** Installs the peers unless they are there. They are not in the project's own lock file, which stays light so. */
export async function installPeers(): Promise<void> {
  // npm writes this file last, so that an installation which was broken off is done again.
  if (existsSync(`${folder}node_modules/.package-lock.json`)) return;
  console.log('Installing what is measured against, once, in bench/peers …\n');
  const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  await promisify(execFile)('npm', ['ci', '--prefix', folder, ...quietly], {
    cwd: folder,
    shell: process.platform === 'win32',
  });
}

/** `13.4.7` */
export function peerVersion(name: string): string {
  const manifest = JSON.parse(readFileSync(`${folder}node_modules/${name}/package.json`, 'utf8')) as {
    version: string;
  };
  return manifest.version;
}
