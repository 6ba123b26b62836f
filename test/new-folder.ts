import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Makes an empty folder, which goes when the test is finished. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'partner-relay-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Lets the files in a folder import `partner-relay`, as an installed package does. @returns the folder */
export function withPackage(folder: string): string {
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(join(import.meta.dirname, '..'), join(folder, 'node_modules/partner-relay'));
  return folder;
}

/** Works in the folder of a team, with the configuration of this repository, until the test is finished. */
export function workInNewFolder(): string {
  const before = process.cwd();
  const folder = withPackage(newFolder());
  copyFileSync(join(import.meta.dirname, '../relay.config.ts'), join(folder, 'relay.config.ts'));
  process.chdir(folder);
  onTestFinished(() => process.chdir(before));
  return folder;
}
