import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** 32 random bytes as base64url. */
const WHOLE = /^[\w-]{43}$/;

/** The token of the console on this machine. It stays the same over restarts, so that an open page goes on. */
export function keptConsoleToken(folder: string): string {
  const file = join(folder, 'console.token');
  const kept = existsSync(file) ? readFileSync(file, 'utf8') : '';
  // A process that was killed can leave a part of it, which would be easier to guess.
  if (WHOLE.test(kept)) return kept;
  const token = randomBytes(32).toString('base64url');
  writeFileSync(file, token, { mode: 0o600 });
  return token;
}
