import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';

/**
 * Cleans up after a test, even if the test is killed: the system then closes standard input. Until then, the test names
 * what there is to clean up, one line each: `group <id>`, `ended <id>`, `folder <path>`.
 */
const groups = new Set<number>();
const folders = new Set<string>();
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const [what, which = ''] = line.split(/ (.*)/s);
  if (what === 'group') groups.add(Number(which));
  if (what === 'ended') groups.delete(Number(which));
  if (what === 'folder') folders.add(which);
}

const left = () => [...groups].filter((group) => signal(group, 0));
for (const group of groups) signal(group, 'SIGTERM');
for (let tenths = 0; tenths < 30 && left().length > 0; tenths++) await setTimeout(100);
for (const group of left()) signal(group, 'SIGKILL');
for (const folder of folders) await rm(folder, { recursive: true, force: true, maxRetries: 5 });

/** Signals a process group. @returns false if the group is gone */
function signal(group: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, name);
  } catch {
    return false;
  }
}
