import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The key that seals grants on this machine. It stays the same over restarts, because the grants stay too. */
export function keptGrantsKey(folder: string): string {
  const file = join(folder, 'grants.key');
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString('base64url'), { mode: 0o600 });
  return readFileSync(file, 'utf8');
}
