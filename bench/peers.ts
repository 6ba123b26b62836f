import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const folder = fileURLToPath(new URL('peers/', import.meta.url));

/** Installs the peers if they are missing. They are not in the project's own lock file, to keep it small. */
export async function installPeers(): Promise<void> {
  if (areInstalled()) return;
  console.log('Installing the peers once, in bench/peers …\n');
  const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  await promisify(execFile)('npm', ['ci', '--prefix', folder, ...quietly], {
    cwd: folder,
    shell: process.platform === 'win32',
  });
}

/** `13.4.7` */
export function peerVersion(name: string): string {
  return manifest<{ version: string }>(`node_modules/${name}`).version;
}

function areInstalled(): boolean {
  // npm writes this file last, so an interrupted installation is repeated.
  if (!existsSync(`${folder}node_modules/.package-lock.json`)) return false;
  const { dependencies } = manifest<{ dependencies: Record<string, string> }>('.');
  return Object.entries(dependencies).every(
    ([name, version]) => existsSync(`${folder}node_modules/${name}`) && peerVersion(name) === version,
  );
}

function manifest<T>(of: string): T {
  return JSON.parse(readFileSync(`${folder}${of}/package.json`, 'utf8')) as T;
}
