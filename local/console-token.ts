import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The token of the console on this machine. It stays the same over restarts, so that an open page goes on. */
export function keptConsoleToken(folder: string): string {
  const file = join(folder, 'console.token');
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString('base64url'), { mode: 0o600 });
  return readFileSync(file, 'utf8');
}
