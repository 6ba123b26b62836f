import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Makes an empty folder, which goes when the test is finished. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'partner-relay-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Works in an empty folder until the test is finished. */
export function workInNewFolder(): string {
  const before = process.cwd();
  const folder = newFolder();
  process.chdir(folder);
  onTestFinished(() => process.chdir(before));
  return folder;
}
