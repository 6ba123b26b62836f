import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

/**
 * A port that stays the same across restarts. Signed requests go to the address that they were signed for, and response
 * URLs to the address that issued them.
 */
export interface KeptPort {
  /** 0 means any port: on the first start, or if another process has taken the port. */
  port: number;
  /** @param url the URL that is in use now */
  keep(url: string): void;
}

export async function keptPort(folder: string, name: string): Promise<KeptPort> {
  const file = join(folder, `${name}.port`);
  const last = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  return {
    port: Number.isInteger(last) && (await isFree(last)) ? last : 0,
    keep: (url) => writeFileSync(file, new URL(url).port),
  };
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
