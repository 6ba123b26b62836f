import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WEBHOOK_SECRET } from '../test/requests.ts';

const GIVE_UP_MS = 10_000;

/** A webhook that stores each event in Redis, through BullMQ. */
export interface RedisQueue {
  webhook: string;
  stop(): Promise<void>;
}

/**
 * Starts the peer and its own Redis, which writes each event to its file before it answers, as the relay does.
 *
 * @param folder of the file
 * @throws {Error} if there is no redis-server
 */
export async function startRedisQueue(folder: string): Promise<RedisQueue> {
  const socket = join(folder, 'redis.sock');
  const redis = run('redis-server', '--port', '0', '--unixsocket', socket, '--dir', folder, '--appendonly', 'yes');
  await redis.printed(/ready to accept connections/i);
  const queue = run(
    process.execPath,
    fileURLToPath(new URL('peers/bullmq.ts', import.meta.url)),
    socket,
    WEBHOOK_SECRET,
  );
  const [, webhook = ''] = await queue.printed(/webhook (\S+)/);
  return {
    webhook,
    async stop() {
      await queue.stop();
      await redis.stop();
    },
  };
}

function run(command: string, ...args: string[]) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const failed = once(child, 'error').then(([error]) => {
    throw new Error(`${command} cannot be started; install it first`, { cause: error });
  });
  failed.catch(() => {});
  // Also if the bench is interrupted.
  process.once('exit', () => child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  return {
    async printed(pattern: RegExp): Promise<RegExpExecArray> {
      const signal = AbortSignal.timeout(GIVE_UP_MS);
      for (;;) {
        const found = pattern.exec(output);
        if (found) return found;
        await Promise.race([failed, once(child.stdout, 'data', { signal })]);
      }
    },
    async stop(): Promise<void> {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}
