import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Makes an empty folder, which is removed after the test. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'partner-relay-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Makes `partner-relay` importable in a folder, like an installed package. @returns the folder */
export function withPackage(folder: string): string {
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(join(import.meta.dirname, '..'), join(folder, 'node_modules/partner-relay'));
  return folder;
}

/** Works in a team's folder, with this repository's configuration, until the test has ended. */
export function workInNewFolder(): string {
  const before = process.cwd();
  const folder = withPackage(newFolder());
  copyFileSync(join(import.meta.dirname, '../relay.config.ts'), join(folder, 'relay.config.ts'));
  process.chdir(folder);
  onTestFinished(() => process.chdir(before));
  return folder;
}
