import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DamagedFile, readOwnFile, writeOwnFile } from './own-file.ts';

/**
 * Keeps a port across restarts: a signed request is for one address, and a response URL works only at the address that
 * issued it.
 *
 * @throws {DamagedFile}
 */
export async function keptPort(folder: string, name: string) {
  const file = join(folder, `${name}.port`);
  const last = readPort(file);
  return {
    /** 0 means any port: on the first start, or if another process has taken the port. */
    port: last !== 0 && (await isFree(last)) ? last : 0,
    /** @param url the current URL */
    keep: (url: string) => writeOwnFile(file, new URL(url).port),
  };
}

function readPort(file: string): number {
  const text = readOwnFile(file);
  if (text === undefined) return 0;
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new DamagedFile(file, 'expected the number of a port', 'remove it; the next start takes any free port');
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
