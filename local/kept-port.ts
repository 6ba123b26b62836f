import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

/**
 * The port of something that the last start had too. It stays the same over restarts, because a request that was signed
 * before goes to the address that it was signed for, and a response URL to the address that gave it out.
 */
export interface KeptPort {
  /** 0 for any port: this is the first start, or another process has taken the port. */
  port: number;
  /** @param url of what listens now */
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
